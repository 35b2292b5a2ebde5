import {
  Bug,
  type Digest,
  type EventId,
  err,
  failure,
  type Hasher,
  type Json,
  ok,
  type Result,
  type RunId,
} from '@signalbox/model';
import type { ArtifactRecord } from '../artifacts/artifact-record.ts';
import type { Blobs } from '../blobs.ts';
import type { Commit, CommitError, Committed, Guard, WriteSet } from '../commit.ts';
import { checkCommit } from '../commit-check.ts';
import { type CommitPlan, type CommitView, planCommit, refused } from '../commit-plan.ts';
import { createFeed } from '../feed.ts';
import { INHERITED, type Inheritance } from '../forks/inheritance.ts';
import { inheritedTaskId } from '../ids.ts';
import type { Beginning, HeldValue } from '../log/record.ts';
import type { SealPorts } from '../log/seal-record.ts';
import type { RunFeed, RunReader } from '../reader.ts';
import { emptyRun, type KeptRun, placeOf, valueKey } from './kept-run.ts';
import { memoryReader } from './memory-reader.ts';

export type MemoryRuns = Commit & RunReader & RunFeed & Blobs;

/** The ports without a disk: for tests, and for plans that need not outlive their process. */
export function memoryRuns(hasher: Hasher): MemoryRuns {
  const runs = new Map<RunId, KeptRun>();
  const outsideIds = new Set<EventId>();
  const byIdempotencyKey = new Map<string, RunId>();
  const blobs = new Map<Digest, Uint8Array>();
  const feed = createFeed();
  let salts = 0;
  const ports: SealPorts = {
    hasher,
    // Nothing of a run outlives the process, so the salt need not be random.
    salt: () => String(salts++),
    putText(text) {
      const content = new TextEncoder().encode(text);
      const name = hasher(content);
      blobs.set(name, content);
      return name;
    },
  };

  function commitNow(given: WriteSet, givenGuard: Guard): Result<Committed, CommitError> {
    const checked = checkCommit(given, givenGuard);
    if (!checked.ok) return checked;
    const { writes, guard } = checked.value;
    const kept = runs.get(guard.run);
    const plan = planCommit(viewOf(runs, kept, byIdempotencyKey), writes, guard, ports);
    if (!plan.ok) return plan;
    const doubled = doubledRow(kept, plan.value, outsideIds);
    if (doubled !== undefined) return err(refused(guard.run, `${doubled} is there already`));
    runs.set(guard.run, keep(kept ?? heir(plan.value), plan.value));
    const { idempotencyKey } = plan.value.record;
    if (idempotencyKey !== undefined) byIdempotencyKey.set(idempotencyKey, guard.run);
    if (plan.value.isFromOutside) for (const { event } of plan.value.events()) outsideIds.add(event.id);
    return ok(plan.value.committed);
  }

  return {
    async commit(writes, guard) {
      const seen = runs.get(guard.run)?.events.length ?? 0;
      const committed = commitNow(writes, guard);
      if (committed.ok) {
        const { run, version } = committed.value;
        const asks = writes.decisions?.some(({ kind }) => kind === 'ask') ?? false;
        const events = runs.get(run)?.events.slice(seen) ?? [];
        feed.tell([{ run, version, seq: seen, asks, events, stream: writes.stream ?? [] }]);
      }
      return committed;
    },
    subscribe: feed.subscribe,
    ...memoryReader(runs),
    async put(contents) {
      return ok(
        contents.map(content => {
          const name = hasher(content);
          blobs.set(name, content);
          return name;
        }),
      );
    },
    async get(name) {
      const content = blobs.get(name);
      if (content !== undefined) return ok(content);
      return err(
        failure('store/blob-missing', {
          message: `There is no blob ${name}.`,
          suggestion: 'Put it into the store first.',
          details: { name },
        }),
      );
    },
  };
}

function viewOf(
  runs: ReadonlyMap<RunId, KeptRun>,
  kept: KeptRun | undefined,
  byIdempotencyKey: ReadonlyMap<string, RunId>,
): CommitView {
  return {
    run: () => kept?.record,
    otherRun: run => runs.get(run)?.record,
    runOfKey: key => byIdempotencyKey.get(key),
    taskStatus: id => kept?.tasks.get(id)?.status,
    decision: id => kept?.decisions.get(id),
    last(space, key) {
      const last = kept?.values.get(valueKey(space, key))?.at(-1);
      return last && { fromFrame: last.fromFrame, value: () => last.value };
    },
    artifactVersion: key =>
      [...(kept?.artifacts.values() ?? [])].reduce(
        (last, artifact) => (artifact.key === key ? Math.max(last, artifact.version ?? 0) : last),
        0,
      ),
    lastTransition(key) {
      const last = kept?.lastTransitions.get(key);
      return last && { value: last.new };
    },
    hasUsage: call => kept?.usage.has(call) === true,
    hasChunk: ({ task, index }) => kept?.streams.get(task)?.has(index) === true,
    beginning: (fork, inherit) => beginningOf(runs, fork, inherit),
  };
}

/** Duplicates that a database's unique keys would refuse. */
function doubledRow(kept: KeptRun | undefined, plan: CommitPlan, outsideIds: ReadonlySet<EventId>): string | undefined {
  return (
    doubled(
      plan.isFromOutside ? plan.events().map(({ event }) => event.id) : [],
      id => outsideIds.has(id) && `event ${id}`,
    ) ??
    doubled(plan.transitions.map(placeOf), place => kept?.places.has(place) === true && `transition ${place}`) ??
    doubled(
      plan.artifacts.map(({ id }) => id),
      id => kept?.artifacts.has(id) === true && `artifact ${id}`,
    ) ??
    doubled(plan.artifacts.flatMap(versionOf), place => {
      const isKept = [...(kept?.artifacts.values() ?? [])].flatMap(versionOf).includes(place);
      return isKept && `artifact ${place}`;
    })
  );
}

function versionOf({ key, version }: ArtifactRecord): readonly string[] {
  return key === undefined || version === undefined ? [] : [`'${key}' version ${version}`];
}

function doubled<Key extends string>(keys: readonly Key[], isKept: (key: Key) => string | false): string | undefined {
  const seen = new Set<Key>();
  for (const key of keys) {
    const name = isKept(key);
    if (name !== false) return name;
    if (seen.has(key)) return key;
    seen.add(key);
  }
  return undefined;
}

/** The values that hold in a frame of a run, and its tasks handled before. */
function beginningOf(runs: ReadonlyMap<RunId, KeptRun>, fork: RunId, { run, frame }: Inheritance): Beginning {
  const parent = runs.get(run);
  const intervals = [...(parent?.values ?? [])].flatMap(([place, rows]) => {
    const value = rows.findLast(row => row.fromFrame <= frame)?.value;
    const [space, key] = JSON.parse(place) as [Beginning['intervals'][number]['space'], string];
    return value === undefined ? [] : [{ space, key, value: { json: value } }];
  });
  const tasks = [...(parent?.tasks.values() ?? [])].flatMap(({ result, ...task }) => {
    if (task.handledFrame === undefined || task.handledFrame >= frame) return [];
    const own = { ...task, id: inheritedTaskId(fork, task.id), handledFrame: 0 };
    return [{ task: own, ...(result === undefined ? {} : { result: { json: result } }) }];
  });
  return { intervals, tasks };
}

/** A new run with its initial state. */
function heir({ record, begins }: CommitPlan): KeptRun {
  const run = emptyRun(record);
  for (const { space, key, value } of begins?.intervals ?? []) {
    run.values.set(valueKey(space, key), [{ fromFrame: 0, value: jsonOf(value) }]);
  }
  for (const { task, result } of begins?.tasks ?? []) {
    run.tasks.set(task.id, { ...task, ...(result === undefined ? {} : { result: jsonOf(result) }) });
  }
  const state = begins?.intervals.filter(({ space }) => space === 'state') ?? [];
  for (const [index, { key, value }] of state.toSorted((a, b) => (a.key < b.key ? -1 : 1)).entries()) {
    const first = {
      frame: 0,
      index,
      key,
      trigger: INHERITED,
      at: record.createdAt,
      old: undefined,
      new: jsonOf(value),
    };
    run.transitions.push(first);
    run.lastTransitions.set(key, first);
    run.places.add(placeOf(first));
  }
  return run;
}

/** Memory holds no values in separate blobs. */
function jsonOf(value: HeldValue): Json {
  if ('json' in value) return value.json;
  throw new Bug(`the memory of runs holds no blob ${value.blob}`);
}

function keep(run: KeptRun, plan: CommitPlan): KeptRun {
  run.record = plan.record;
  if (plan.frame !== undefined) run.frames.push(plan.frame);
  for (const { space, key, fromFrame, value } of plan.intervals) {
    const place = valueKey(space, key);
    const rows = run.values.get(place) ?? [];
    if (rows.at(-1)?.fromFrame === fromFrame) rows.pop();
    rows.push({ fromFrame, value });
    run.values.set(place, rows);
  }
  for (const { change: _, value, ...transition } of plan.transitions) {
    const view = { ...transition, old: run.lastTransitions.get(transition.key)?.new, new: value };
    run.transitions.push(view);
    run.lastTransitions.set(transition.key, view);
    run.places.add(placeOf(view));
  }
  for (const task of plan.tasks) run.tasks.set(task.id, task);
  for (const decision of plan.decisions) run.decisions.set(decision.id, decision);
  for (const artifact of plan.artifacts) run.artifacts.set(artifact.id, artifact);
  for (const usage of plan.usage) if (!run.usage.has(usage.call)) run.usage.set(usage.call, usage);
  run.log.push(plan.log);
  run.events.push(...plan.events());
  for (const chunk of [...plan.stream, ...plan.deltas]) {
    const chunks = run.streams.get(chunk.task) ?? new Map();
    if (!chunks.has(chunk.index)) run.streams.set(chunk.task, chunks.set(chunk.index, chunk));
  }
  return run;
}
