import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { SegmentPacking } from '../segment-packing.ts';

/** By measurement: higher levels take longer and save nothing on lines that are so much alike. */
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** One zstd frame, which any tool for zstd reads: `zstd -dc FILE`. */
export const zstdPacking: SegmentPacking = {
  suffix: '.zst',
  pack: segment => zstdCompressSync(segment, OPTIONS),
  unpack(packed, maxLength) {
    try {
      // With `info` the types of Node promise a buffer, and there is an object.
      const { buffer, engine } = zstdDecompressSync(packed, {
        maxOutputLength: Math.max(1, maxLength),
        info: true,
      }) as unknown as { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
      return engine.bytesWritten === packed.length ? buffer : undefined;
    } catch {
      return undefined;
    }
  },
};
