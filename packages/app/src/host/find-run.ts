import { type ErrorEnvelope, err, failure, ok, type Result, runId } from '@signalbox/model';
import { everyRun, type RunReader, type RunRecord } from '@signalbox/runs';

/** The run with an id, or with a prefix that only one run has. */
export async function findRun(reader: RunReader, given: string): Promise<Result<RunRecord, ErrorEnvelope>> {
  const whole = runId.safeParse(given);
  const named = whole.success ? await reader.run(whole.data) : undefined;
  if (named !== undefined) return ok(named);
  const found: RunRecord[] = [];
  for await (const run of everyRun(reader)) if (run.id.startsWith(given)) found.push(run);
  const [first, second] = found;
  if (first !== undefined && second === undefined) return ok(first);
  const many = `${found.length} runs begin with ${given}`;
  return err(
    failure('run/unknown', {
      message: first === undefined ? `There is no run ${given} in this data directory.` : `${many}.`,
      suggestion: 'See "signalbox ls" for the runs there are, and give enough of the id to tell it from the others.',
      details: { matches: found.length },
    }),
  );
}

/** How many runs have the given prefix, from a refusal of `findRun`. */
export function matchesIn({ details }: ErrorEnvelope): number {
  const { matches = 0 } = (details ?? {}) as { readonly matches?: number };
  return matches;
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
