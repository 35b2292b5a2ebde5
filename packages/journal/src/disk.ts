/**
 * The only way the journal touches a disk. Every call is one operation of the operating system, so that tests can stop
 * the program, or lose what was not synced, between any two of them. Calls block: an append is a chain of syncs, each of
 * which must end before the next operation starts.
 */
export interface Disk {
  /** Creates one directory, not its parents. Returns false if it already exists. */
  makeDirectory(path: string): boolean;
  /** `create` empties the file; `append` keeps it and writes at its end. Never follows a symbolic link. */
  open(path: string, mode: 'create' | 'append'): OpenFile;
  rename(from: string, to: string): void;
  /** Makes the names in a directory durable. */
  syncDirectory(path: string): void;
  /** Makes a file's bytes durable, even if another process wrote them. */
  syncFile(path: string): void;
  size(path: string): number | undefined;
  /** The bytes from an offset on. Never follows a symbolic link. */
  read(path: string, from?: number): Uint8Array | 'missing' | 'not_a_file';
  kind(path: string): 'file' | 'directory' | 'other' | 'missing';
  list(path: string): readonly string[];
}

export interface OpenFile {
  write(bytes: Uint8Array): void;
  /** Makes the file's bytes and length durable; its name belongs to the directory. */
  sync(): void;
  truncate(length: number): void;
  close(): void;
}

/** An operation refused by the operating system. */
export class DiskError extends Error {
  override readonly name = 'DiskError';
  readonly operation: string;
  /** The system's own code, such as `ENOSPC`. */
  readonly code: string;

  constructor(operation: string, code: string, cause?: unknown) {
    super(`${operation} failed with ${code}`, { cause });
    this.operation = operation;
    this.code = code;
  }
}
