import type { Launch } from '@signalbox/app';
import { type ErrorEnvelope, thisMachine } from '@signalbox/app/host';
import { askedDataDirectory, type DataFlags } from '../data-directory-option.ts';
import { type ExitCode, exitCodeOf } from '../exit-code.ts';
import { tellRecovered } from '../recoveries/recovery-report.ts';
import { tellAhead } from '../storage/tell-ahead.ts';
import { tellStorage } from '../storage/tell-storage.ts';
import { reportError, type Terminal } from '../terminal.ts';
import { openLastingOwner } from './lasting-owner.ts';
import type { OwnerOptions } from './open-owner.ts';
import type { RunOwner } from './run-owner.ts';

/** Runs `work` with the owner of the data directory, which may be this process. An error is reported once. */
export async function withOwner(
  terminal: Terminal,
  {
    dataDir,
    json = false,
    trace,
    warm,
    parkMs,
    launch,
    makesRoom,
  }: DataFlags & {
    readonly parkMs?: number;
    readonly trace?: OwnerOptions['trace'] | undefined;
    readonly warm?: boolean;
    readonly launch?: Launch;
    readonly makesRoom?: boolean;
  },
  work: (owner: RunOwner) => Promise<ExitCode | ErrorEnvelope>,
): Promise<ExitCode> {
  const directory = askedDataDirectory(dataDir);
  const tellOwned = ({ recovered, storage }: RunOwner) => {
    tellRecovered(terminal, recovered);
    tellAhead(terminal, directory);
    if (storage !== undefined) tellStorage(terminal, storage);
  };
  const options = {
    dataDirectory: directory,
    machine: thisMachine(),
    env: process.env,
    ...(trace && { trace }),
    ...(warm !== undefined && { warm }),
    ...(parkMs !== undefined && { parkMs }),
    ...(launch && { launch }),
    ...(makesRoom && { makesRoom }),
  };
  const owner = await openLastingOwner(options, tellOwned);
  const refuse = (error: ErrorEnvelope): ExitCode => {
    reportError(terminal, error, json);
    return exitCodeOf(error);
  };
  if (!owner.ok) return refuse(owner.error);
  try {
    const outcome = await work(owner.value);
    return typeof outcome === 'number' ? outcome : refuse(outcome);
  } finally {
    await owner.value.close();
  }
}
