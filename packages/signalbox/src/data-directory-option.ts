import { homedir } from 'node:os';
import { dataDirectory, dataDirectoryFault, type ErrorEnvelope, writableDataDirectoryFault } from '@signalbox/app';

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

/** Of every command that takes a directory for agents. */
export const ANY_DIRECTORY_OPTION = [
  '--any-directory',
  'agents may work in the directory though programs keep credentials there, as in ~/.ssh',
] as const;

/** Ends a command with an error that `main` reports. */
export class Refused extends Error {
  readonly envelope: ErrorEnvelope;

  constructor(envelope: ErrorEnvelope) {
    super(envelope.message);
    this.envelope = envelope;
  }
}

/** The data directory of a command. Throws `Refused` if it is not a directory, or not its owner's alone. */
export function askedDataDirectory(asked: string | undefined): string {
  const directory = namedDataDirectory(asked);
  const fault = dataDirectoryFault(directory);
  if (fault !== undefined) throw new Refused(fault);
  return directory;
}

/** The same for a command that writes there: made if it is missing, and refused if it is read-only. */
export function writableDataDirectory(asked: string | undefined): string {
  const directory = namedDataDirectory(asked);
  const fault = writableDataDirectoryFault(directory);
  if (fault !== undefined) throw new Refused(fault);
  return directory;
}

/** The directory, whatever is there: for the doctor, which says what is wrong with it. */
export function namedDataDirectory(asked: string | undefined): string {
  const { env, platform } = process;
  return dataDirectory({ asked, env, platform, home: homedir(), cwd: process.cwd() });
}
