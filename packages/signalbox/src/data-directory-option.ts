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

/** For every command that runs a run's plan. */
export const TRUST_OPTION = ['--trust', 'trust the author of an imported run: run its plan as your own code'] as const;

/** For every command that takes a directory for agents. */
export const ANY_DIRECTORY_OPTION = [
  '--any-directory',
  'let agents work in the directory even though it holds credentials, like ~/.ssh',
] as const;

/** Ends a command with an error that `main` reports. */
export class Refused extends Error {
  readonly envelope: ErrorEnvelope;

  constructor(envelope: ErrorEnvelope) {
    super(envelope.message);
    this.envelope = envelope;
  }
}

/** A command's data directory. Throws `Refused` if it is not a directory, or not private to its owner. */
export function askedDataDirectory(asked: string | undefined): string {
  const directory = namedDataDirectory(asked);
  const fault = dataDirectoryFault(directory);
  if (fault !== undefined) throw new Refused(fault);
  return directory;
}

/** The same for a command that writes there: created if it is missing, and refused if it is read-only. */
export function writableDataDirectory(asked: string | undefined): string {
  const directory = namedDataDirectory(asked);
  const fault = writableDataDirectoryFault(directory);
  if (fault !== undefined) throw new Refused(fault);
  return directory;
}

/** The directory, unchecked: the doctor reports what is wrong with it. */
export function namedDataDirectory(asked: string | undefined): string {
  const { env, platform } = process;
  return dataDirectory({ asked, env, platform, home: homedir(), cwd: process.cwd() });
}
