import { type ErrorEnvelope, err, failure, namesId, ok, type Result, runId, shortId } from '@signalbox/model';
import { everyRun, type RunReader, type RunRecord } from '@signalbox/runs';

/** Handles of the newest run, and of the newest that failed, among those that no other run started. */
export const LAST = '@last';
const FAILED = '@failed';

/**
 * The run that a person means: by its id, by a beginning or end that only one run has, by `@last` or `@failed`, or by a name that
 * only one run has. An id comes before a name.
 */
export async function findRun(reader: RunReader, given: string): Promise<Result<RunRecord, ErrorEnvelope>> {
  const whole = runId.safeParse(given);
  const named = whole.success ? await reader.run(whole.data) : undefined;
  if (named !== undefined) return ok(named);
  if (given === LAST) return newest(reader, given, () => true);
  if (given === FAILED) return newest(reader, given, ({ status }) => status === 'failed');
  const byId: RunRecord[] = [];
  const byName: RunRecord[] = [];
  for await (const run of everyRun(reader)) {
    if (namesId(run.id, given)) byId.push(run);
    else if (run.name === given && isOwn(run)) byName.push(run);
  }
  const found = byId.length > 0 ? byId : byName;
  const [first, second] = found;
  if (first !== undefined && second === undefined) return ok(first);
  const ids = found.map(({ id }) => id);
  return err(unknownHandle(given, ids));
}

/** How many runs a text could mean, from a refusal of `findRun`. */
export function matchesIn({ details }: ErrorEnvelope): number {
  const { matches = 0 } = (details ?? {}) as { readonly matches?: number };
  return matches;
}

/** A text that names no run, or several: at least those that were found. */
export function unknownHandle(
  given: string,
  found: readonly string[] = [],
  matches = found.length,
): ErrorEnvelope<'run/unknown'> {
  const some = found.slice(0, LISTED).map(shortId).join(', ');
  const more = matches > Math.min(found.length, LISTED) ? ', …' : '';
  return failure('run/unknown', {
    message:
      matches === 0
        ? `There is no run ${given} in this data directory.`
        : `${given} could be ${matches} runs: ${some}${more}.`,
    suggestion:
      matches === 0
        ? 'List the runs with "signalbox ls". A run is named by its id, the beginning or end of it, its name, @last or @failed.'
        : 'Give more of the id, or use @last for the newest run.',
    details: { matches },
  });
}

/** A full id that no run has. */
export function unknownRun(given: string): ErrorEnvelope<'run/unknown'> {
  const shown = given.slice(0, 64);
  return failure('run/unknown', {
    message: `There is no run ${shown} in this data directory.`,
    suggestion: 'List the runs and give the whole id of one.',
    details: { run: shown },
  });
}

const LISTED = 5;

async function newest(
  reader: RunReader,
  given: string,
  isMeant: (run: RunRecord) => boolean,
): Promise<Result<RunRecord, ErrorEnvelope>> {
  for await (const run of everyRun(reader)) if (isOwn(run) && isMeant(run)) return ok(run);
  return err(
    failure('run/unknown', {
      message:
        given === FAILED
          ? 'No run in this data directory has failed.'
          : 'There are no runs in this data directory yet.',
      suggestion: given === FAILED ? 'List the runs with "signalbox ls".' : 'Start one: signalbox run plan.tsx',
      details: { matches: 0 },
    }),
  );
}

/** Whether somebody started the run itself, not only a run whose part it is. */
function isOwn({ origin }: RunRecord): boolean {
  return origin?.kind !== 'sub-plan';
}
