import type { Clock, RecoveryNote } from '@signalbox/model';
import { openRecoveryBook } from '../recoveries/recovery-book.ts';
import { type Check, warned } from './check.ts';

const NAME = 'recovery';
const SHOWN = 5;

/** Interrupted tool calls that nobody has dismissed yet: a warning for each of the newest. */
export function checkRecoveries(dataDir: string, clock: Clock): readonly Check[] {
  const notes = openRecoveryBook(dataDir, clock).list();
  const rest = notes.length - SHOWN;
  return [
    ...notes.slice(0, SHOWN).map(checkOf),
    ...(rest > 0 ? [warned(NAME, `${rest} more`, 'See all of them with "signalbox recoveries".')] : []),
  ];
}

function checkOf({ id, tool, run, outcome, message, paths }: RecoveryNote): Check {
  const lists = paths.map(
    ({ what, paths: named, more }) => `${what}: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
  );
  const whose = run === undefined ? '' : ` of run ${run}`;
  const advice =
    outcome === 'failed'
      ? 'Remove the obstacle, then start Signalbox again: every start retries it.'
      : `Dismiss it with "signalbox recoveries --dismiss ${id}".`;
  return warned(NAME, [`${tool} ${id}${whose}: ${message}`, ...lists].join(' '), advice);
}
