import { isDeepStrictEqual } from 'node:util';
import { type AllRuns, type ReadNode, readTree, withAsking } from '@signalbox/app/all-runs';
import { nodeKey, type RunHost, type RunRecord, type Task, transitionsIn } from '@signalbox/app/host';
import {
  type ErrorEnvelope,
  err,
  failure,
  type Json,
  json,
  type Result,
  type RunId,
  type RunSummary,
  runId,
  type WireRecord,
  type WireStoredEvent,
} from '@signalbox/model';
import * as z from 'zod';
import { knownRun } from '../routes/known-run.ts';
import { executionSummary } from './read-models.ts';

export interface OperatorHost extends Pick<RunHost, 'reader' | 'driven' | 'providers' | 'inspection'> {
  readonly runs: AllRuns;
}

/** The address of a requested resource. */
export interface ResourcePlace {
  /** The values of the braces in the path, in order. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

type Read<T extends object = object> = Promise<Result<T, ErrorEnvelope>>;

/** Reads a plan run, or a guided run if that has the resource. */
export async function ofRun<T extends object>(
  { reader, runs }: Pick<OperatorHost, 'reader' | 'runs'>,
  { parts }: ResourcePlace,
  read: (run: RunRecord) => Read<T>,
  readGuided?: (run: RunId) => Read<T>,
): Read<T> {
  const run = await knownRun(reader, parts[0] ?? '');
  if (run.ok) return read(run.value);
  const id = runId.safeParse(parts[0]);
  const found = id.success ? await runs.find(id.data) : undefined;
  if (found?.ok === false) return found;
  if (found?.value === undefined) return run;
  return readGuided === undefined ? err(guidedHasNone(found.value)) : readGuided(found.value.id);
}

function guidedHasNone({ id, guided }: RunSummary): ErrorEnvelope {
  return failure('run/guided', {
    message: `Execution ${id} is guided: an external agent walks it through session ${guided?.sessionId}, and it has no frames, state or plan work.`,
    suggestion: `Read signalbox://executions/${id}, and its events and approvals.`,
    details: { run: id, sessionId: guided?.sessionId ?? null },
  });
}

export function ofNode<T extends object>(
  host: Pick<OperatorHost, 'reader' | 'runs'>,
  place: ResourcePlace,
  read: (run: RunRecord, node: ReadNode) => Read<T>,
): Read<T> {
  return ofRun(host, place, async record => {
    const open = await host.reader.decisions({ run: record.id, status: ['open'] });
    const tree = withAsking(await readTree(host.reader, record.id, record.frames), open);
    const found = tree.find(({ node }) => node.id === place.parts[1]);
    return found === undefined ? err(unknownNode(record.id, place.parts[1] ?? '')) : read(record, found);
  });
}

/** Reads with a checked query; an invalid one is refused by name. */
export async function withQuery<Schema extends z.ZodType>(
  query: URLSearchParams,
  schema: Schema,
  read: (asked: z.infer<Schema>) => Read,
): Read {
  const asked = schema.safeParse(Object.fromEntries(query));
  if (asked.success) return read(asked.data);
  const [issue] = asked.error.issues;
  return err(
    failure('VALIDATION_ERROR', {
      message: `The query of the resource is invalid: ${issue?.path.map(String).join('.')} ${issue?.message}.`,
      suggestion: 'See the template of the resource for its query.',
    }),
  );
}

export async function summaryOf({ reader }: Pick<OperatorHost, 'reader'>, record: WireRecord | RunRecord) {
  return executionSummary(record, await reader.spending({ run: record.id }));
}

export async function tasksOf(
  { reader }: Pick<OperatorHost, 'reader'>,
  { id }: RunRecord,
  node: string,
): Promise<readonly Task[]> {
  return reader.tasks(id, { node: nodeKey.parse(node) });
}

/** The frame in which a node last appeared, and the last one that had it. */
export async function seenIn({ reader }: Pick<OperatorHost, 'reader'>, { id, frames }: RunRecord, node: string) {
  let mounted = 0;
  let left: number | undefined;
  for (let from = 0; from < frames; from += FRAMES) {
    for (const frame of await reader.frames(id, from, FRAMES)) {
      if (frame.unmounted.some(key => key === node)) left = frame.index - 1;
      if (!frame.mounted.some(key => key === node)) continue;
      mounted = frame.index;
      left = undefined;
    }
  }
  return { mounted, last: left ?? Math.max(0, frames - 1) };
}

/** The changes of state in a frame: each key's value before and after it. */
export async function changesIn({ reader }: Pick<OperatorHost, 'reader'>, run: RunId, frame: number) {
  const changes: Record<string, { old: Json; new: Json }> = {};
  for await (const { key, old, new: now } of transitionsIn(reader, run, frame)) {
    changes[key] = { old: changes[key]?.old ?? old ?? null, new: now ?? null };
  }
  return changes;
}

/** Volatile state that renders read with another value than in the previous frame, or did not read there. */
export async function volatileChangesIn({ reader }: Pick<OperatorHost, 'reader'>, run: RunId, frame: number) {
  const before = frame === 0 ? new Map<string, Json>() : await reader.at(run, 'read', frame - 1);
  const after = await reader.at(run, 'read', frame);
  const changes: Record<string, { old: Json; new: Json }> = {};
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    if (!key.startsWith(VOLATILE)) continue;
    const [old, now] = [volatileValue(before.get(key)), volatileValue(after.get(key))];
    if (!isDeepStrictEqual(old, now)) changes[key.slice(VOLATILE.length)] = { old, new: now };
  }
  return changes;
}

/** The prefix of volatile keys in rows of reads. */
const VOLATILE = 'v:';

function volatileValue(row: Json | undefined): Json {
  const read = volatileRow.safeParse(row);
  return read.success ? (read.data.value ?? null) : null;
}

const volatileRow = z.object({ value: json.optional() });

/** The events between a frame and the next. */
export async function eventsOfFrame(
  { reader }: OperatorHost,
  record: RunRecord,
  frame: number,
): Promise<readonly WireStoredEvent[]> {
  const found: WireStoredEvent[] = [];
  let isInside = false;
  for (let from = await beforeFrame(reader, record, frame); ; from += EVENTS) {
    const events = await reader.events(record.id, from, EVENTS);
    for (const stored of events) {
      const { event } = stored;
      if (event.type === 'frame.committed') {
        if (isInside) return found;
        isInside = event.frame === frame;
      }
      if (isInside) found.push(stored);
    }
    if (events.length < EVENTS) return found;
  }
}

/** A place in a run's events shortly before a frame, by binary search: frames are in order. */
async function beforeFrame(reader: OperatorHost['reader'], { id, nextSeq }: RunRecord, frame: number): Promise<number> {
  let [low, high] = [0, nextSeq];
  while (high - low > EVENTS) {
    const middle = Math.floor((low + high) / 2);
    const seen = await reader.events(id, middle, EVENTS);
    const next = seen.map(({ event }) => event).find(event => event.type === 'frame.committed');
    // The first event beyond the search range is too late, and so are all after it.
    if (next === undefined) return low;
    if (next.frame > frame) high = middle;
    else low = next.seq;
  }
  return low;
}

const FRAMES = 1_000;
const EVENTS = 1_000;

function unknownNode(run: RunId, given: string): ErrorEnvelope {
  return failure('run/node-unknown', {
    message: `Run ${run} currently has no node ${given.slice(0, 64)}.`,
    suggestion: 'Read the last frame of the execution for its nodes.',
    details: { run },
  });
}
