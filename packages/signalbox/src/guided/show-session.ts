import { type ErrorEnvelope, usageError } from '@signalbox/app';
import { findListedRun } from '@signalbox/app/all-runs';
import type { SessionId } from '@signalbox/app/guided';
import { askedDataDirectory, type DataFlags } from '../data-directory-option.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-code.ts';
import { reportError, type Terminal } from '../terminal.ts';
import { targetOf } from './guided-target.ts';

interface Flags extends DataFlags {
  readonly frame?: string;
  readonly xml?: boolean;
}

/** Shows a guided session; returns undefined if the id names none. */
export async function showIfSession(given: string, flags: Flags, terminal: Terminal): Promise<ExitCode | undefined> {
  const target = await targetOf(flags.dataDir, given);
  if (target.kind === 'run') return undefined;
  return target.kind === 'refused'
    ? refused(target.error, flags, terminal)
    : showOne(target.sessionId, flags, terminal);
}

/** Shows the session of a guided run; undefined where the id names none. */
export async function showIfGuidedRun(given: string, flags: Flags, terminal: Terminal): Promise<ExitCode | undefined> {
  const run = await findListedRun(undefined, askedDataDirectory(flags.dataDir), given);
  const session = run.ok ? run.value.guided?.sessionId : undefined;
  return session && showOne(session, flags, terminal);
}

async function showOne(sessionId: SessionId, flags: Flags, terminal: Terminal): Promise<ExitCode> {
  if (flags.frame !== undefined || flags.xml === true) {
    const error = usageError('--frame and --xml only apply to plan runs.', 'Leave them out for a guided session.');
    return refused(error, flags, terminal);
  }
  const { readSession } = await import('./read-session.ts');
  const session = await readSession(askedDataDirectory(flags.dataDir), sessionId);
  if (!session.ok) return refused(session.error, flags, terminal);
  terminal.print(flags.json ? JSON.stringify(session.value) : session.describe(terminal));
  return exitCodes.done;
}

function refused(error: ErrorEnvelope, { json = false }: Flags, terminal: Terminal): ExitCode {
  reportError(terminal, error, json);
  return exitCodeOf(error);
}
