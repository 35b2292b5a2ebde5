/**
 * The files of a run, as plans see them: a port, because a plan's code runs where there may be none. Paths are relative to the
 * root, and nothing outside it is reached, symlinks included. Calls throw an `Error` that says why a path is refused.
 */
export interface PlanFiles {
  /** Undefined where there is no file. */
  read(path: string): Uint8Array | undefined;
  /** In the order of their names; undefined where there is no directory. */
  list(path: string): readonly FileItem[] | undefined;
  stat(path: string): FileStat | undefined;
  /** Makes the file and the directories above it, or replaces its content. */
  write(path: string, content: string | Uint8Array): void;
  /** Tells, without reading, whether what is at a path may be another than before. */
  mark(path: string): FileMark;
  /** Calls back soon after something at or under one of the paths may have changed. The returned function ends it. */
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
  /** It changed so lately that the same mark may stand for something else. */
  readonly isFresh: boolean;
}

/** `ctx.fs`: files under the run's root. What a render reads is recorded with its frame, and a change of it is rendered. */
export interface FileAccess extends FileReader {
  /** In handlers, effects and tasks. A handler's or an effect's counts with everything else that it writes. */
  write(path: string, content: string | Uint8Array): void;
}

export interface FileReader {
  /** The text of a file; undefined where there is none. */
  read(path: string): string | undefined;
  /** What a directory holds, in the order of names; undefined where there is none. */
  list(path: string): readonly FileItem[] | undefined;
  exists(path: string): boolean;
  stat(path: string): FileStat | undefined;
}

/** The most that a plan reads of one file. */
export const MAX_FILE_BYTES = 4_194_304;
