import { type ErrorEnvelope, usageError } from '@signalbox/app';
import { askedDataDirectory, type DataFlags } from '../data-directory-option.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-code.ts';
import { reportError, type Terminal } from '../terminal.ts';
import { targetOf } from './guided-target.ts';

interface Flags extends DataFlags {
  readonly frame?: string;
  readonly xml?: boolean;
}

/** Shows a guided session; undefined where the id names none. */
export async function showIfSession(given: string, flags: Flags, terminal: Terminal): Promise<ExitCode | undefined> {
  const refuse = (error: ErrorEnvelope) => {
    reportError(terminal, error, flags.json ?? false);
    return exitCodeOf(error);
  };
  const target = await targetOf(flags.dataDir, given);
  if (target.kind === 'run') return undefined;
  if (target.kind === 'refused') return refuse(target.error);
  if (flags.frame !== undefined || flags.xml === true) {
    return refuse(usageError('--frame and --xml are for runs of plans.', 'Leave them out for a guided session.'));
  }
  const { readSession } = await import('./read-session.ts');
  const session = await readSession(askedDataDirectory(flags.dataDir), target.sessionId);
  if (!session.ok) return refuse(session.error);
  terminal.print(flags.json ? JSON.stringify(session.value) : session.describe(terminal));
  return exitCodes.done;
}
