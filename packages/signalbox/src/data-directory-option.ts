export const DATA_DIR_OPTION = [
  '--data-dir <dir>',
  'the data directory, instead of SIGNALBOX_DATA_DIR or the default',
] as const;

export interface DataFlags {
  readonly dataDir?: string;
  readonly json?: boolean;
}

/** Of every command that runs the plan of a run. */
export const TRUST_OPTION = [
  '--trust',
  'the run was imported, and its author is trusted: run its plan as your own',
] as const;
