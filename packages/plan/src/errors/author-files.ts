/** The files of the plans that this thread has loaded, as they were loaded. */
const files = new Map<string, Uint8Array>();

/** A frame of a stack in one of these files is the author's. */
export function noteAuthorFile(file: string, contents: Uint8Array): void {
  files.set(file, contents);
}

export function isAuthorFile(file: string): boolean {
  return files.has(file);
}

/** Larger files are not cut into excerpts: each would be searched for secrets as a whole. */
const MAX_BYTES = 1024 * 1024;

/** Undefined for other files, and for very large ones. */
export function authorText(file: string): string | undefined {
  const contents = files.get(file);
  return contents === undefined || contents.byteLength > MAX_BYTES ? undefined : Buffer.from(contents).toString('utf8');
}
