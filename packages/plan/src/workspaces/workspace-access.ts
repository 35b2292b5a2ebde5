/** Files that are a run's own, as work has them. A ref names a snapshot: contents, modes and links of everything in it. */
export interface WorkspaceAccess extends WorkspacePlace {
  /** Keeps how the files are now. Answers with its ref. */
  snapshot(): Promise<string>;
  /** Brings the files back as they were. */
  rollback(ref: string): Promise<void>;
  /** What changed between two refs, as a patch; up to now, unless told otherwise. */
  diff(from: string, to?: string): Promise<string>;
}

export interface WorkspacePlace {
  /** The directory, an absolute path. */
  readonly path: string;
  readonly vcs: 'git' | 'none';
}
