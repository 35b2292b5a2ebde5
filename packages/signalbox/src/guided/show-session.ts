import { type ErrorEnvelope, usageError } from '@signalbox/app';
import { showSession } from '@signalbox/app/guided';
import { askedDataDirectory, type DataFlags } from '../data-directory-option.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-code.ts';
import { paintOf, reportError, type Terminal } from '../terminal.ts';
import { workflowPlaces } from '../workflow/workflow-places.ts';
import { targetOf } from './guided-target.ts';
import { describeSession } from './session-report.ts';

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
  const dataDirectory = askedDataDirectory(flags.dataDir);
  const session = await showSession({ dataDirectory, directories: workflowPlaces() }, target.sessionId);
  if (!session.ok) return refuse(session.error);
  terminal.print(flags.json ? JSON.stringify(session.value) : describeSession(session.value, paintOf(terminal)));
  return exitCodes.done;
}
