/**
 * The files of a run for plans: a port, because a plan's code may run without files. Paths are relative to the root, and nothing outside it
 * is reachable, symlinks included. Calls throw an `Error` that says why a path is refused.
 */
export interface PlanFiles {
  /** Undefined if there is no file. */
  read(path: string): Uint8Array | undefined;
  /** Sorted by name; undefined if there is no directory. */
  list(path: string): readonly FileItem[] | undefined;
  stat(path: string): FileStat | undefined;
  /** Creates the file and its parent directories, or replaces its content. */
  write(path: string, content: string | Uint8Array): void;
  /** A mark that changes when the content of a path may have changed, without reading it. */
  mark(path: string): FileMark;
  /** Calls back soon after something at or under one of the paths may have changed. Call the returned function to stop. */
  watch?(paths: readonly string[], onChange: () => void): () => void;
}

export interface FileItem {
  readonly name: string;
  readonly kind: FileKind;
}

export type FileKind = 'file' | 'directory' | 'other';

export interface FileStat {
  readonly kind: FileKind;
  readonly bytes: number;
}

export interface FileMark {
  readonly text: string;
  /** It changed so recently that the same mark may stand for something else. */
  readonly isFresh: boolean;
}

/** `ctx.fs`: files under the run's root. Reads of a render are recorded with its frame, and a change renders again. */
export interface FileAccess extends FileReader {
  /** In handlers, effects and tasks. In a handler or an effect it counts with all its other writes. */
  write(path: string, content: string | Uint8Array): void;
}

export interface FileReader {
  /** The text of a file; undefined if there is none. */
  read(path: string): string | undefined;
  /** The entries of a directory, sorted by name; undefined if there is none. */
  list(path: string): readonly FileItem[] | undefined;
  exists(path: string): boolean;
  stat(path: string): FileStat | undefined;
}

/** The largest file that a plan can read. */
export const MAX_FILE_BYTES = 4_194_304;
