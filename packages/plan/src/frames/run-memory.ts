import type { ArtifactId, Clock, Json, RunId, ThrownPlace } from '@signalbox/model';
import {
  hasRunEnded,
  type IntervalSpace,
  isRepairable,
  type NodeKey,
  type RunReader,
  type RunRecord,
  type RunSource,
  type StopConditions,
  type Task,
  type TaskId,
} from '@signalbox/runs';
import type { EffectMemory } from '../effects/effect-registry.ts';
import { beginAnew } from '../forks/begin-anew.ts';
import { type AnyPlan, initialState } from '../plan-definition.ts';
import type { StateChange } from '../plan-error.ts';
import { createReadable, type Readable } from '../render/tracked.ts';
import { asGiven, type CleanData } from '../state/clean-data.ts';
import { frozen } from '../state/frozen.ts';
import { isUnhandled, type NodeRecord, nodeRecordOf } from '../structure/node-record.ts';
import { createFrameDigest, type FrameDigest } from './frame-digest.ts';
import { isNewVersion } from './plan-version.ts';
import { createLedger, type Ledger } from './run-commit.ts';

/** Everything that the engine knows about a run; durable parts are in the ledger too. */
export interface RunMemory {
  readonly state: Readable;
  readonly volatile: Readable;
  /** Records of nodes, including those that left the plan. */
  readonly records: Map<string, NodeRecord>;
  /** Nodes with a running status. */
  readonly running: Set<string>;
  /** Ended tasks, by node, whose handler failed in an earlier process. */
  readonly unhandled: Map<string, Task>;
  /** Nodes whose failed work starts again, because the run continues with another version of its plan. */
  readonly repairable: ReadonlySet<string>;
  /** Interrupted work with effects outside, oldest first: whether it happened is unknown. */
  readonly orphaned: Task[];
  /** Tasks that have not ended. */
  readonly tasks: Map<TaskId, Task>;
  readonly ledger: Ledger;
  readonly clean: CleanData;
  readonly digest: FrameDigest;
  /** Effects that ran. A failed one counts as if it had not, and runs again. */
  readonly effects: ReadonlyMap<string, EffectMemory>;
  /** Nodes of the last frame of an earlier process, with their kinds. */
  readonly formerNodes: ReadonlyMap<string, string>;
  /** Keys that it read. */
  readonly formerReads: ReadonlySet<string>;
  limits: StopConditions;
  /** Whether they differ from the reader's. */
  areLimitsChanged: boolean;
  /** Artifacts that are already stored. */
  readonly artifacts: ReadonlySet<ArtifactId>;
  /** Runs of sub-plans that have not ended. */
  readonly children: readonly RunRecord[];
  /** Runs of sub-plans that failed in their plan, not in their work: they can continue. */
  readonly broken: ReadonlySet<RunId>;
  /** Where the author's code threw, by node; of failures in this process. */
  readonly thrown: Map<string, ThrownPlace>;
  /** Nodes that failed with `Terminal`, in this process. */
  readonly finals: Set<string>;
  /** The last three, oldest first. */
  lastChanges: readonly StateChange[];
  nextFrame: number;
  record: RunRecord | undefined;
}

/** The current frame between two frame commits: the last one. */
export function lastFrame({ nextFrame }: Pick<RunMemory, 'nextFrame'>): number {
  return Math.max(0, nextFrame - 1);
}

export interface MemorySource {
  readonly plan: AnyPlan;
  readonly run: RunId;
  readonly reader: RunReader;
  readonly clock: Clock;
  /** For a run that does not exist yet. */
  readonly limits?: StopConditions | undefined;
  readonly clean?: CleanData | undefined;
  /** The plan's files. */
  readonly source?: RunSource;
  /** The reader has only its record: nothing else is read. */
  readonly isNew?: boolean;
}

/** The memory of a run: new, or loaded from the reader. */
export async function loadMemory(source: MemorySource): Promise<RunMemory> {
  const { plan, run, reader, clock, limits = {}, clean = asGiven, isNew = false } = source;
  const record = await reader.run(run);
  const isCorrected = isNewVersion(record, source.source);
  const isEmpty = record === undefined || isNew;
  const frames = record?.frames ?? 0;
  const last = Math.max(0, frames - 1);
  const { known, count, tasks, orphaned, children, artifacts } = isEmpty
    ? NOTHING
    : await storedOf(reader, run, { frames, last });
  const ledger = createLedger(clock, known, { frame: last, count });
  const digest = createFrameDigest();
  for (const [space, values] of known) {
    if (space !== 'read') for (const [key, value] of values) digest.set(space, key, digested(space, value));
  }
  const records = new Map([...(known.get('status') ?? [])].map(([id, value]) => [id, nodeRecordOf(value)]));
  const state = new Map<string, Json>();
  for (const [key, value] of known.get('state') ?? []) {
    const plain = frozen(value);
    if (plain.ok) state.set(key, plain.value);
  }
  // A run may have ended before its first frame, with its initial values written.
  if (frames === 0 && count === 0) {
    for (const [key, given] of initialState(plan)) {
      const value = clean(given);
      state.set(key, value);
      ledger.put('state', key, value);
      digest.set('state', key, value);
      const change = { kind: 'set', value } as const;
      ledger.transition(
        {
          frame: 0,
          node: '',
          index: 0,
          transaction: 0,
          trigger: 'plan.initial',
          key,
          old: undefined,
          new: value,
          change,
        },
        key,
      );
    }
  }
  if (record?.origin?.kind === 'fork') beginAnew(records, tasks);
  const kinds = kindsOf(known.get('node'));
  return {
    state: createReadable('', state),
    volatile: createReadable('vol:', new Map()),
    records,
    running: new Set([...(known.get('status') ?? [])].flatMap(([id, row]) => (isRunning(row) ? [id] : []))),
    tasks: new Map(tasks.map(task => [task.id, task])),
    orphaned: [...orphaned],
    unhandled: await unhandledOf(reader, run, records),
    repairable: isCorrected ? await repairableOf(reader, run, records, kinds) : new Set(),
    ledger,
    clean,
    digest,
    effects: new Map(
      [...records].flatMap(([id, { effect, status }]) =>
        effect === undefined || status === 'failed' ? [] : [[id, effect] as const],
      ),
    ),
    formerNodes: kinds,
    formerReads: new Set(known.get('read')?.keys()),
    artifacts,
    limits: record?.limits ?? limits,
    broken: record?.status === 'failed' ? await brokenOf(reader, children, isCorrected) : new Set(),
    areLimitsChanged: false,
    children: children.filter(({ origin, status }) => origin?.kind === 'sub-plan' && !hasRunEnded(status)),
    thrown: new Map(),
    finals: new Set(),
    lastChanges: [],
    nextFrame: frames,
    record,
  };
}

/** What is stored of a run. */
interface Stored {
  readonly known: ReadonlyMap<IntervalSpace, ReadonlyMap<string, Json>>;
  /** How many transitions the last frame has. */
  readonly count: number;
  /** Those that have not ended. */
  readonly tasks: readonly Task[];
  readonly orphaned: readonly Task[];
  readonly children: readonly RunRecord[];
  readonly artifacts: ReadonlySet<ArtifactId>;
}

const NOTHING: Stored = { known: new Map(), count: 0, tasks: [], orphaned: [], children: [], artifacts: new Set() };
const SPACES: readonly IntervalSpace[] = ['node', 'status', 'state', 'read'];

/** Reads everything at once: the reader may be in another thread. */
async function storedOf(
  reader: RunReader,
  run: RunId,
  { frames, last }: { readonly frames: number; readonly last: number },
): Promise<Stored> {
  const [known, count, tasks, orphaned, children, artifacts] = await Promise.all([
    Promise.all(SPACES.map(async space => [space, await reader.at(run, space, frames)] as const)),
    transitionsOf(reader, run, last),
    reader.tasks(run, { status: ['pending', 'running', 'canceling'] }),
    reader.tasks(run, { status: ['orphaned'], effects: ['external'] }),
    reader.children(run),
    artifactsOf(reader, run),
  ]);
  return { known: new Map(known), count, tasks, orphaned, children, artifacts };
}

/** The runs of sub-plans that can continue; with a corrected plan, those whose own work failed, too. */
async function brokenOf(
  reader: RunReader,
  children: readonly RunRecord[],
  isCorrected: boolean,
): Promise<ReadonlySet<RunId>> {
  const broken = new Set<RunId>();
  for (const child of children) {
    const { id, origin, status, error } = child;
    if (origin?.kind !== 'sub-plan' || status !== 'failed') continue;
    const isBroken =
      error?.code === 'plan/task-failed'
        ? (await brokenOf(reader, await reader.children(id), isCorrected)).size > 0
        : error?.code.startsWith('plan/') === true && error.code !== 'plan/input-invalid';
    if (isBroken || (await hasMore(reader, child, isCorrected))) broken.add(id);
  }
  return broken;
}

/** Whether a failed run has handlers to call again, or work to repeat. */
async function hasMore(reader: RunReader, { id, frames }: RunRecord, isCorrected: boolean): Promise<boolean> {
  const rows = await reader.at(id, 'status', frames);
  const records = new Map([...rows].map(([node, row]) => [node, nodeRecordOf(row)]));
  if ([...records.values()].some(isUnhandled)) return true;
  if (!isCorrected) return false;
  return (await repairableOf(reader, id, records, kindsOf(await reader.at(id, 'node', frames)))).size > 0;
}

/** The ended work of each node that no handler has taken in. */
async function unhandledOf(
  reader: RunReader,
  run: RunId,
  records: ReadonlyMap<string, NodeRecord>,
): Promise<Map<string, Task>> {
  const found = new Map<string, Task>();
  for (const [node, record] of records) {
    const task = isUnhandled(record) ? await endedTask(reader, run, node, record) : undefined;
    if (task !== undefined) found.set(node, task);
  }
  return found;
}

/** The nodes whose failed work a corrected plan repeats. */
async function repairableOf(
  reader: RunReader,
  run: RunId,
  records: ReadonlyMap<string, NodeRecord>,
  kinds: ReadonlyMap<string, string>,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const [node, record] of records) {
    if (record.status !== 'failed' || record.gone === true || isUnhandled(record)) continue;
    const task = await endedTask(reader, run, node, record);
    if (task !== undefined && isRepairable(kinds.get(node), task)) found.add(node);
  }
  return found;
}

/** The last ended work of a node, in the form and iteration of its record. */
async function endedTask(reader: RunReader, run: RunId, node: string, record: NodeRecord): Promise<Task | undefined> {
  const ended = await reader.tasks(run, { node: node as NodeKey, status: ['done', 'error'] });
  return ended.findLast(({ iteration, signature }) => iteration === record.iteration && signature === record.signature);
}

function kindsOf(rows: ReadonlyMap<string, Json> | undefined): ReadonlyMap<string, string> {
  return new Map([...(rows ?? [])].map(([id, row]) => [id, (row as { readonly kind: string }).kind]));
}

function isRunning(row: Json): boolean {
  return (row as { readonly status?: string }).status === 'running';
}

async function artifactsOf(reader: RunReader, run: RunId): Promise<ReadonlySet<ArtifactId>> {
  const found = new Set<ArtifactId>();
  for (let after: { readonly after?: ArtifactId } = {}; ; ) {
    const { items, next } = await reader.artifactList({ run, versions: 'all', ...after });
    for (const { artifact } of items) found.add(artifact.id);
    if (next === undefined) return found;
    after = { after: next };
  }
}

export async function transitionsOf(reader: RunReader, run: RunId, frame: number): Promise<number> {
  let count = 0;
  for (;;) {
    const { items, next } = await reader.transitions(run, { from: { frame, index: count } });
    count += items.filter(transition => transition.frame === frame).length;
    if (next?.frame !== frame) return count;
  }
}

/** The part of a row that counts for the digest: without source positions, handler names and pending calls. */
export function digested(space: IntervalSpace, value: Json): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (space === 'status' && 'unhandled' in value) {
    const { unhandled: _, ...rest } = value as Record<string, Json>;
    return rest;
  }
  if (space !== 'node') return value;
  const { source: _, handlers: __, ...rest } = value as Record<string, Json>;
  return rest;
}
