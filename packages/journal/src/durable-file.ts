import type { Disk } from './disk.ts';

/**
 * Writes a file whose name appears with its whole content or not at all. The content is on disk when this returns; the
 * name is when its directory has been synced.
 */
export function placeFile(
  disk: Disk,
  file: { readonly path: string; readonly temporary: string },
  bytes: Uint8Array,
): void {
  const written = disk.open(file.temporary, 'create');
  try {
    written.write(bytes);
    written.sync();
  } finally {
    written.close();
  }
  disk.rename(file.temporary, file.path);
}
