import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { SegmentPacking } from '../segment-packing.ts';

/** Measured: higher levels take longer and save nothing on such similar lines. */
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** One zstd frame, readable by any zstd tool: `zstd -dc FILE`. */
export const zstdPacking: SegmentPacking = {
  suffix: '.zst',
  pack: segment => zstdCompressSync(segment, OPTIONS),
  unpack(packed, maxLength) {
    try {
      // With `info`, Node returns an object although its types promise a buffer.
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
