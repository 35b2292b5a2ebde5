/** A run's workspace, for work. A ref names a snapshot: contents, modes and links of everything in it. */
export interface WorkspaceAccess extends WorkspacePlace {
  /** Takes a snapshot of the files. Returns its ref. */
  snapshot(): Promise<string>;
  /** Restores the files of a snapshot. */
  rollback(ref: string): Promise<void>;
  /** The changes between two refs, as a patch; `to` defaults to now. */
  diff(from: string, to?: string): Promise<string>;
}

export interface WorkspacePlace {
  /** The directory, an absolute path. */
  readonly path: string;
  readonly vcs: 'git' | 'none';
}
