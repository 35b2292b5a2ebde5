import { homedir } from 'node:os';
import { dataDirectory } from '@signalbox/app';
import { type ErrorEnvelope, type Machine, type OwnedStore, openOwnedStore, thisMachine } from '@signalbox/app/runs';
import { type ExitCode, exitCodeOf } from './exit-code.ts';
import { reportError, type Terminal } from './terminal.ts';

export const DATA_DIR_OPTION = [
  '--data-dir <dir>',
  'the data directory, instead of SIGNALBOX_DATA_DIR or the default',
] as const;

export interface DataFlags {
  readonly dataDir?: string;
  readonly json?: boolean;
}

/** Runs `work` on the store of the data directory, and closes it however that ends. An error is reported once. */
export async function withStore(
  terminal: Terminal,
  { dataDir, json = false }: DataFlags,
  work: (owned: OwnedStore, machine: Machine) => Promise<ExitCode | ErrorEnvelope>,
): Promise<ExitCode> {
  const { env, platform } = process;
  const machine = thisMachine();
  const directory = dataDirectory({ asked: dataDir, env, platform, home: homedir(), cwd: process.cwd() });
  const owned = openOwnedStore(directory, machine);
  const refuse = (error: ErrorEnvelope): ExitCode => {
    reportError(terminal, error, json);
    return exitCodeOf(error);
  };
  if (!owned.ok) return refuse(owned.error);
  try {
    const outcome = await work(owned.value, machine);
    return typeof outcome === 'number' ? outcome : refuse(outcome);
  } finally {
    owned.value.close();
  }
}
