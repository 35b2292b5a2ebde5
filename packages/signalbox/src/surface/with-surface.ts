import type { Launch } from '@signalbox/app';
import { type ErrorEnvelope, thisMachine } from '@signalbox/app/runs';
import { askedDataDirectory, type DataFlags } from '../data-directory-option.ts';
import { type ExitCode, exitCodeOf } from '../exit-code.ts';
import { tellRecovered } from '../recoveries/recovery-report.ts';
import { tellAhead } from '../storage/tell-ahead.ts';
import { tellStorage } from '../storage/tell-storage.ts';
import { reportError, type Terminal } from '../terminal.ts';
import { openSurface, type SurfaceOptions } from './open-surface.ts';
import type { RunSurface } from './run-surface.ts';

/** Runs `work` on the data directory's runs, and always closes the surface. An error is reported once. */
export async function withSurface(
  terminal: Terminal,
  {
    dataDir,
    json = false,
    trace,
    warm,
    parkMs,
    launch,
  }: DataFlags & {
    readonly parkMs?: number;
    readonly trace?: SurfaceOptions['trace'] | undefined;
    readonly warm?: boolean;
    readonly launch?: Launch;
  },
  work: (surface: RunSurface) => Promise<ExitCode | ErrorEnvelope>,
): Promise<ExitCode> {
  const directory = askedDataDirectory(dataDir);
  const surface = await openSurface({
    dataDirectory: directory,
    machine: thisMachine(),
    env: process.env,
    ...(trace && { trace }),
    ...(warm !== undefined && { warm }),
    ...(parkMs !== undefined && { parkMs }),
    ...(launch && { launch }),
  });
  const refuse = (error: ErrorEnvelope): ExitCode => {
    reportError(terminal, error, json);
    return exitCodeOf(error);
  };
  if (!surface.ok) return refuse(surface.error);
  tellRecovered(terminal, surface.value.recovered);
  if (surface.value.isOwner) tellAhead(terminal, directory);
  if (surface.value.storage !== undefined) tellStorage(terminal, surface.value.storage);
  try {
    const outcome = await work(surface.value);
    return typeof outcome === 'number' ? outcome : refuse(outcome);
  } finally {
    await surface.value.close();
  }
}
