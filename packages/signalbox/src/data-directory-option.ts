export const DATA_DIR_OPTION = [
  '--data-dir <dir>',
  'the data directory, instead of SIGNALBOX_DATA_DIR or the default',
] as const;

export interface DataFlags {
  readonly dataDir?: string;
  readonly json?: boolean;
}
