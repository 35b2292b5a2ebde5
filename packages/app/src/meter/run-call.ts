import {
  type Digest,
  type ErrorEnvelope,
  err,
  failure,
  type Json,
  type ModelCall,
  ok,
  parsedJson,
  type Result,
  type RunId,
} from '@signalbox/model';
import type { Blobs, InternalEvent, RunReader } from '@signalbox/runs';
import { type RequestManifest, readRequest } from './kept-calls.ts';

type Answered = Extract<InternalEvent, { readonly type: 'model.answered' }>;

const PAGE = 1_000;

/** One call as it went to its model: its request and answer, without secrets, and what changed since the call before in its task. */
export async function runCall(
  reader: Pick<RunReader, 'events'>,
  blobs: Pick<Blobs, 'get'>,
  run: RunId,
  call: string,
): Promise<Result<ModelCall, ErrorEnvelope>> {
  const answered = await answeredCalls(reader, run);
  const found = answered.find(event => event.call === call);
  if (found === undefined) {
    return err(
      failure('VALIDATION_ERROR', {
        message: `Run ${run} has no call ${call} that has ended.`,
        suggestion: `List its calls with signalbox usage ${run} --json.`,
      }),
    );
  }
  const manifest = found.request === undefined ? undefined : await readRequest(blobs, found.request);
  const before = answered
    .slice(0, answered.indexOf(found))
    .findLast(event => event.task === found.task && event.request !== undefined);
  const earlier = before?.request === undefined ? undefined : await readRequest(blobs, before.request);
  const answer = found.answer === undefined ? undefined : await textOf(blobs, found.answer);
  return ok({
    ...{ run, call, node: found.node, provider: found.provider, model: found.model, outcome: found.outcome },
    ...(manifest && { request: await wholeRequest(blobs, manifest) }),
    ...(answer !== undefined && { answer }),
    ...(manifest &&
      before &&
      earlier && { since: { call: before.call, ...(await changes(blobs, earlier, manifest)) } }),
  });
}

async function answeredCalls(reader: Pick<RunReader, 'events'>, run: RunId): Promise<readonly Answered[]> {
  const found: Answered[] = [];
  for (let from = 0; ; ) {
    const page = await reader.events(run, from, PAGE);
    for (const { event } of page) if (event.type === 'model.answered') found.push(event);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return found;
    from = last.event.seq + 1;
  }
}

async function textOf(blobs: Pick<Blobs, 'get'>, name: Digest): Promise<string | undefined> {
  const stored = await blobs.get(name);
  return stored.ok ? Buffer.from(stored.value).toString('utf8') : undefined;
}

const GONE: Json = { gone: true };

const partOf = async (blobs: Pick<Blobs, 'get'>, name: Digest): Promise<Json> =>
  (parsedJson((await textOf(blobs, name)) ?? '') as Json | undefined) ?? GONE;

async function wholeRequest(
  blobs: Pick<Blobs, 'get'>,
  { body, lists }: RequestManifest,
): Promise<Record<string, Json>> {
  const whole: Record<string, Json> = { ...body };
  for (const [list, names] of Object.entries(lists))
    whole[list] = await Promise.all(names.map(name => partOf(blobs, name)));
  return whole;
}

/** Members of lists that one of two requests has and the other has not. */
async function changes(blobs: Pick<Blobs, 'get'>, before: RequestManifest, now: RequestManifest) {
  const named = ({ lists }: RequestManifest) =>
    Object.entries(lists).flatMap(([list, names]) => names.map(name => ({ list, name })));
  const [old, current] = [named(before), named(now)];
  const missing = (from: typeof old, among: typeof old) => {
    const there = new Set(among.map(({ list, name }) => `${list} ${name}`));
    return from.filter(({ list, name }) => !there.has(`${list} ${name}`));
  };
  const told = async (parts: typeof old) =>
    Promise.all(parts.map(async ({ list, name }) => ({ list, value: await partOf(blobs, name) })));
  const added = missing(current, old);
  return {
    same: current.length - added.length,
    added: await told(added),
    removed: await told(missing(old, current)),
  };
}
