import { readFileSync } from 'node:fs';
import { MAX_PLAN_BYTES, zstdPacking } from '@signalbox/journal';

/** Files of ours that are compressed end in this; what is before it says what they hold. */
export const PACKED = zstdPacking.suffix;

export function isPacked(file: string): boolean {
  return file.endsWith(PACKED);
}

/** What a file holds, compressed or not. Throws where it cannot be read. */
export function contentOf(file: string): Uint8Array {
  const bytes = readFileSync(file);
  if (!isPacked(file)) return bytes;
  const content = zstdPacking.unpack(bytes, MAX_PLAN_BYTES);
  if (content === undefined) throw new Error(`${file} is damaged: it cannot be decompressed`);
  return content;
}

/** A content as a file of this name holds it. */
export function bytesFor(file: string, content: Uint8Array): Uint8Array {
  return isPacked(file) ? zstdPacking.pack(content) : content;
}
