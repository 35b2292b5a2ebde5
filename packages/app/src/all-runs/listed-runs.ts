import { readdirSync } from 'node:fs';
import path from 'node:path';
import {
  type ErrorEnvelope,
  err,
  failure,
  namesId,
  ok,
  type Result,
  type RunId,
  type RunSummary,
  type SessionId,
} from '@signalbox/model';
import { everyRun, type RunFilter, type RunReader, type RunRecord } from '@signalbox/runs';
import { findRun, LAST, matchesIn, unknownHandle } from '../host/find-run.ts';

/** A run in a list: its record, and for a guided one the facts of its session. */
export type ListedRun =
  | { readonly kind: 'plan'; readonly record: RunRecord }
  | { readonly kind: 'guided'; readonly record: RunSummary['record']; readonly guided: RunSummary['guided'] };

/** The guided runs of a data directory, newest first. Without sessions, their code is not loaded. */
export async function guidedRunsIn(dataDirectory: string): Promise<Result<readonly RunSummary[], ErrorEnvelope>> {
  if (!hasSessions(dataDirectory)) return ok([]);
  const { guidedRunList } = await import('../guided/guided-run-list.ts');
  return guidedRunList(dataDirectory);
}

/** The guided session that an id or its beginning names; undefined if there are no sessions. Loads as little as `guidedRunsIn`. */
export async function sessionIn(
  dataDirectory: string,
  given: string,
): Promise<Result<SessionId, ErrorEnvelope> | undefined> {
  if (!hasSessions(dataDirectory)) return undefined;
  const { sessionNamed } = await import('../guided/guided-run-list.ts');
  return sessionNamed(dataDirectory, given);
}

/** Every run, newest first; `reader` is undefined without a database. */
export async function* everyListedRun(
  reader: RunReader | undefined,
  guided: readonly RunSummary[],
  filter: Pick<RunFilter, 'status' | 'tag'>,
): AsyncGenerator<ListedRun> {
  const { status, tag } = filter;
  const rest = guided.filter(
    ({ record }) =>
      (status === undefined || status.includes(record.status)) && (tag === undefined || record.tags.includes(tag)),
  );
  let next = 0;
  const listed = ({ record, guided: session }: RunSummary): ListedRun => ({ kind: 'guided', record, guided: session });
  if (reader !== undefined) {
    for await (const record of everyRun(reader, filter)) {
      for (let run = rest[next]; run !== undefined && run.createdAt > record.createdAt; run = rest[next]) {
        next += 1;
        yield listed(run);
      }
      yield { kind: 'plan', record };
    }
  }
  for (const run of rest.slice(next)) yield listed(run);
}

/** The run of any driver that a person means, by the handles of `findRun`. */
export async function findListedRun(
  reader: RunReader | undefined,
  dataDirectory: string,
  given: string,
): Promise<Result<{ readonly id: RunId; readonly guided?: RunSummary['guided'] }, ErrorEnvelope>> {
  const plan = reader === undefined ? undefined : await findRun(reader, given);
  if (plan?.ok === true && plan.value.id === given) return ok({ id: plan.value.id });
  const runs = await guidedRunsIn(dataDirectory);
  if (!runs.ok) return runs;
  if (given === LAST) {
    const [newest] = runs.value;
    const isNewer = newest !== undefined && (plan?.ok !== true || newest.createdAt > plan.value.createdAt);
    if (isNewer) return ok({ id: newest.id, guided: newest.guided });
  }
  const named = runs.value.filter(({ id }) => namesId(id, given));
  const called = named.length > 0 ? named : runs.value.filter(({ record }) => record.name === given);
  const [found, second] = called;
  if (found?.id === given) return ok({ id: found.id, guided: found.guided });
  const plans = plan === undefined ? 0 : plan.ok ? 1 : matchesIn(plan.error);
  if (found !== undefined && second === undefined && plans === 0) return ok({ id: found.id, guided: found.guided });
  if (found === undefined && plan !== undefined) return plan.ok ? ok({ id: plan.value.id }) : plan;
  const ids = [...(plan?.ok === true ? [plan.value.id] : []), ...called.map(({ id }) => id)];
  return err(unknownHandle(given, ids, called.length + plans));
}

/** The plan run that a person means. A guided run is refused, with its session. */
export async function findPlanRun(
  reader: RunReader,
  dataDirectory: string,
  given: string,
): Promise<Result<RunRecord, ErrorEnvelope>> {
  const run = await findRun(reader, given);
  return run.ok ? run : err(await guidedInstead(reader, dataDirectory, given, run.error));
}

/** The refusal for a run without a plan: says that it is guided, if it is. */
export async function guidedInstead(
  reader: RunReader,
  dataDirectory: string,
  given: string,
  error: ErrorEnvelope,
): Promise<ErrorEnvelope> {
  if (error.code !== 'run/unknown') return error;
  const listed = await findListedRun(reader, dataDirectory, given);
  if (!listed.ok) return listed.error;
  const { id, guided } = listed.value;
  if (guided === undefined) return error;
  const { sessionId } = guided;
  return failure('run/guided', {
    message: `Run ${id} is guided: an agent elsewhere walks it in session ${sessionId}. This command needs a run of a plan.`,
    suggestion: `See "signalbox show ${sessionId}"; "export", "verify" and "sessions keep" take the id of the session.`,
    details: { run: id, sessionId },
  });
}

function hasSessions(dataDirectory: string): boolean {
  try {
    return readdirSync(path.join(dataDirectory, 'sessions')).length > 0;
  } catch {
    return false;
  }
}
