import { readFileSync } from 'node:fs';
import { MAX_PLAN_BYTES, zstdPacking } from '@signalbox/journal';

/** The suffix of our compressed files; the name before it says what they hold. */
export const PACKED = zstdPacking.suffix;

export function isPacked(file: string): boolean {
  return file.endsWith(PACKED);
}

/** The content of a file, compressed or not. Throws if it cannot be read. */
export function contentOf(file: string): Uint8Array {
  const bytes = readFileSync(file);
  if (!isPacked(file)) return bytes;
  const content = zstdPacking.unpack(bytes, MAX_PLAN_BYTES);
  if (content === undefined) throw new Error(`${file} is damaged: it cannot be decompressed`);
  return content;
}

/** The content in the form of a file with this name. */
export function bytesFor(file: string, content: Uint8Array): Uint8Array {
  return isPacked(file) ? zstdPacking.pack(content) : content;
}
