import type { SessionId } from '@signalbox/app/guided';
import { type DataFlags, writableDataDirectory } from '../data-directory-option.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-code.ts';
import { reportError, type Terminal } from '../terminal.ts';
import { targetOf } from './guided-target.ts';

/** Keeps a guided session from being collected, or releases it; undefined if the id names none. */
export async function keepIfSession(
  given: string,
  flags: DataFlags,
  keep: boolean,
  terminal: Terminal,
): Promise<ExitCode | undefined> {
  const target = await targetOf(flags.dataDir, given);
  if (target.kind === 'run') return undefined;
  if (target.kind === 'refused') {
    reportError(terminal, target.error, flags.json ?? false);
    return exitCodeOf(target.error);
  }
  return keepNamed(writableDataDirectory(flags.dataDir), target.sessionId, flags, keep, terminal);
}

export async function keepNamed(
  dataDirectory: string,
  session: SessionId,
  { json = false }: DataFlags,
  keep: boolean,
  terminal: Terminal,
): Promise<ExitCode> {
  // Loaded only for sessions, because most of what is kept are runs.
  const { keepSession } = await import('@signalbox/app/guided');
  const done = await keepSession({ dataDirectory }, session, keep);
  if (!done.ok) {
    reportError(terminal, done.error, json);
    return exitCodeOf(done.error);
  }
  const { sessionId, isChanged } = done.value;
  const [now, before] = keep ? ['is kept', 'was kept'] : ['is no longer kept', 'was not kept'];
  terminal.print(json ? JSON.stringify(done.value) : `Session ${sessionId} ${isChanged ? now : `${before} before`}.`);
  return exitCodes.done;
}
