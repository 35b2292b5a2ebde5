import { asJson, type Json, type NodeStatus } from '@signalbox/model';
import type { NodeKey } from '@signalbox/runs';
import type { PlanContext } from '../context.ts';
import type { EffectCall } from '../effects/effect-registry.ts';
import { isLoopKind, isRunnableKind, type NodeKind } from '../nodes/node-kind.ts';
import type { PlanNode } from '../nodes/plan-node.ts';
import { type TreeNode, treeToJson } from '../nodes/tree-json.ts';
import { type Reconciled, reconcile } from '../render/reconcile.ts';
import { createRenderer, type Renderer } from '../render/renderer.ts';
import { createReadable, FILE, LOOP, PAST, QUERY, type Readable, TABLE, VOL } from '../render/tracked.ts';
import { turned } from '../structure/loop-turn.ts';
import { iterationOf, type NodeRecord } from '../structure/node-record.ts';
import type { Activity, Structure } from '../structure/structure.ts';
import type { EffectRound } from './effects-and-flush.ts';
import type { EngineBase, PlanCode } from './engine.ts';
import { digested, type RunMemory } from './run-memory.ts';

/**
 * The plan's tree in this frame, its changes since the last one, and the rows that record both: of nodes, of their statuses, and of what
 * renders read.
 *
 * 1. A render that throws changes nothing: no loop has turned, and the tree is that of the last frame.
 * 2. The first tree of a process is compared with what the previous process committed.
 */
export interface PlanView {
  /** Renders, and collects what the frame asks for. */
  settle(): Settled;
  /** Compares the new tree with the last one and puts the differences into the ledger. Removed nodes are reported first. */
  reconcile(next: PlanNode, onLeft: (node: string) => void): TreeChange;
  /** The reads of renders. */
  readonly reads: ReadBook;
  readonly renderer: Renderer;
  /** Whether a Phase named VERIFY runs. */
  readonly isVerifying: boolean;
  /** The tree of the last frame. */
  readonly tree: PlanNode | undefined;
  shown(): TreeNode | undefined;
}

export interface Settled {
  readonly tree: PlanNode;
  readonly activity: Activity;
  /** The frame's effects. */
  readonly calls: readonly EffectCall[];
  /** A loop wants another iteration, which belongs to the next frame. */
  readonly goesOn: boolean;
}

interface TreeChange {
  readonly mounted: readonly NodeKey[];
  readonly unmounted: readonly NodeKey[];
  /** Mounted in this process: all nodes in its first frame. */
  readonly added: readonly PlanNode[];
}

/** `context` is passed to the plan's code. */
export function createPlanView(
  base: EngineBase,
  context: unknown,
  { effects, ...sources }: ReadSources & { readonly effects: EffectRound },
): PlanView {
  const { options, memory, structure } = base;
  const { records } = memory;
  const loops = [...records].filter(([, record]) => record.loop !== undefined);
  const iterations = createReadable(LOOP, new Map(loops.map(([id, record]) => [id, iterationOf(record)])));
  const renderer = createRenderer({
    plan: options.plan,
    context: context as PlanContext<unknown, object>,
    iterationOf: loop => (iterations.read(loop) as number | undefined) ?? 0,
    clean: memory.clean,
    editOf: node => records.get(node)?.edited,
  });
  const rendering = { renderer, structure, records, iterations };
  const callsOf = (activity: Activity) => effects.calls(activity, renderer);
  let tree: PlanNode | undefined;
  /** The plan's phases with that name. */
  const verifying = new Set<string>();
  return {
    renderer,
    reads: createReadBook(base, renderer, sources),
    settle: () => settle(rendering, tree, callsOf),
    reconcile(next, onLeft) {
      if (tree === next) return { mounted: [], unmounted: [], added: [] };
      const diff = reconcile(tree, next);
      const former = tree === undefined ? memory.formerNodes : new Map<string, string>();
      const left = [...former.keys()].filter(id => !diff.rows.has(id)).concat(diff.unmounted.map(node => node.id));
      tree = next;
      left.forEach(onLeft);
      for (const id of left) verifying.delete(id);
      for (const { kind, id, data } of diff.mounted) {
        if (kind === 'phase' && data.name.toUpperCase() === 'VERIFY') verifying.add(id);
      }
      putNodeRows(memory, diff.rows, left);
      const mounted = diff.mounted.filter(node => !former.has(node.id));
      return {
        mounted: mounted.map(node => node.id as NodeKey),
        unmounted: left as NodeKey[],
        added: diff.mounted,
      };
    },
    get isVerifying() {
      return [...verifying].some(id => structure.statusOf(id) === 'running');
    },
    get tree() {
      return tree;
    },
    shown: () => tree && shownTree(tree, structure, records),
  };
}

/** A tree with its statuses. */
export function shownTree(tree: PlanNode, structure: Structure, records: ReadonlyMap<string, NodeRecord>): TreeNode {
  return treeToJson(tree, id => {
    const record = records.get(id);
    const iteration = record?.loop === undefined ? {} : { iteration: iterationOf(record) };
    return { status: structure.statusOf(id), ...iteration };
  });
}

/** The parts of a render. */
export interface Rendering {
  readonly renderer: Renderer;
  readonly structure: Structure;
  readonly records: Map<string, NodeRecord>;
  readonly iterations: Readable;
}

/**
 * Renders until no loop wants to turn: a loop's content depends on its iteration, and whether it turns depends on its content. A loop turns
 * at most once a frame and may be left in the same frame, so this ends. If a render throws, no loop has turned and the structure is that of
 * `shown`, the tree of the last frame.
 */
export function settle(
  { renderer, structure, records, iterations }: Rendering,
  shown: PlanNode | undefined,
  callsOf: (activity: Activity) => readonly EffectCall[],
): Settled {
  const hasTurned = new Set<string>();
  const before = new Map<string, NodeRecord | undefined>();
  try {
    for (;;) {
      const tree = renderer.render();
      structure.setTree(tree);
      const activity = structure.activity();
      const turns = activity.turns.filter(({ loop, turn }) => turn === 'leave' || !hasTurned.has(loop.id));
      if (turns.length === 0) return { tree, activity, goesOn: activity.turns.length > 0, calls: callsOf(activity) };
      for (const { loop, turn } of turns) {
        const known = records.get(loop.id);
        if (!before.has(loop.id)) before.set(loop.id, known);
        const record = turned(known, turn, structure.scopeOf(loop.id));
        records.set(loop.id, record);
        if (turn !== 'leave') hasTurned.add(loop.id);
        structure.touch(loop.id);
        iterations.write(new Map([[loop.id, iterationOf(record)]]));
      }
    }
  } catch (error) {
    for (const [loop, record] of before) {
      if (record === undefined) records.delete(loop);
      else records.set(loop, record);
    }
    structure.setTree(shown);
    for (const loop of before.keys()) structure.touch(loop);
    throw error;
  }
}

/** Puts the rows of added, changed and removed nodes into the ledger. */
function putNodeRows(memory: RunMemory, rows: Reconciled['rows'], left: readonly string[]): void {
  const { ledger, digest, records } = memory;
  for (const id of left) {
    ledger.put('node', id, undefined);
    digest.set('node', id, undefined);
    const record = records.get(id);
    const status = record === undefined ? undefined : goneRecord(record);
    if (status !== undefined) records.set(id, status);
    putStatus(memory, id, status);
  }
  for (const [id, row] of rows) {
    ledger.put('node', id, asJson(row));
    digest.set('node', id, digested('node', asJson(row)));
  }
}

/** The record of a removed node: enough to tell new work from old when it returns. */
function goneRecord(record: NodeRecord): NodeRecord | undefined {
  if (record.signature === undefined && record.loop === undefined) return undefined;
  const isLive = record.status === 'running' || record.status === 'scheduled' || record.status === 'blocked';
  const { effect: _, reason: __, unhandled: ___, ...rest } = record;
  return { ...rest, status: isLive ? 'canceled' : record.status, gone: true };
}

/**
 * Puts the rows of statuses that may have changed into the ledger, and reports those of nodes that do work. A node whose branch is no
 * longer taken is passed to `onSkipped`, and forgets its work.
 */
export function putStatusRows(
  memory: RunMemory,
  structure: Structure,
  frame: number,
  onSkipped: (node: string) => void = () => {},
): void {
  const { ledger, records } = memory;
  for (const id of structure.takeTouched()) {
    const node = structure.nodeOf(id);
    if (node === undefined) continue;
    const status = structure.statusOf(id);
    if (status === 'skipped') skip(memory, id, onSkipped);
    const record = records.get(id);
    const before = ledger.committed('status', id) as { readonly status?: NodeStatus; readonly gone?: true } | undefined;
    const keepsRecord = isRunnableKind(node.kind) || isLoopKind(node.kind) || node.kind === 'effect';
    const iteration = structure.scopeOf(id);
    const row = keepsRecord && record !== undefined ? { ...record, status } : { status, iteration };
    if ((row.status !== 'idle' || before !== undefined || keepsRecord) && !isSame(ledger.current('status', id), row))
      putStatus(memory, id, row);
    const from = before === undefined || before.gone === true ? 'idle' : (before.status ?? 'idle');
    if (!isRunnableKind(node.kind) || from === status) continue;
    const reason = status === 'blocked' && record?.reason !== undefined ? { blockReason: record.reason } : {};
    ledger.event('node.status', { node: id as NodeKey, frame, from, to: status, ...reason });
  }
}

/** Unchanged rows consist of the same parts. */
function isSame(shown: Json | undefined, row: NodeRecord): boolean {
  if (shown === undefined) return false;
  const a = shown as Readonly<Record<string, unknown>>;
  const b = row as Readonly<Record<string, unknown>>;
  for (const key in b) if (!Object.is(a[key], b[key])) return false;
  for (const key in a) if (!(key in b)) return false;
  return true;
}

/** As if it had left the plan: when its branch is taken again, it starts over. */
function skip({ records }: RunMemory, id: string, onSkipped: (node: string) => void): void {
  const record = records.get(id);
  if (record === undefined || record.gone === true || record.status === 'skipped') return;
  onSkipped(id);
  const gone = goneRecord(record);
  if (gone === undefined) records.delete(id);
  else records.set(id, { ...gone, status: 'skipped' });
}

/** Puts changed records into the ledger when there is no tree, because the first render of a process threw. */
export function putRecordRows(memory: RunMemory, frame: number): void {
  const { ledger, records, formerNodes } = memory;
  for (const [id, record] of records) {
    const kind = formerNodes.get(id);
    if (kind === undefined || !isRunnableKind(kind as NodeKind) || record.gone === true) continue;
    const before = ledger.current('status', id) as { readonly status?: NodeStatus } | undefined;
    if (isSame(before as Json | undefined, record)) continue;
    putStatus(memory, id, record);
    const from = before?.status ?? 'idle';
    if (from === record.status) continue;
    const reason = record.status === 'blocked' && record.reason !== undefined ? { blockReason: record.reason } : {};
    ledger.event('node.status', { node: id as NodeKey, frame, from, to: record.status, ...reason });
  }
}

export function putStatus(memory: RunMemory, id: string, given: NodeRecord | undefined): void {
  const record = memory.clean(given);
  if (record?.status === 'running') memory.running.add(id);
  else memory.running.delete(id);
  memory.ledger.put('status', id, record as Json | undefined);
  memory.digest.set('status', id, record === undefined ? undefined : digested('status', record as Json));
}

/** The reads of renders, as rows: one when a key starts to be read, one when it stops. Costs only what changed. */
interface ReadBook {
  /** Records the changes since the last frame. */
  put(): void;
  /** Whether everything that the render read is recorded. */
  readonly isRecorded: boolean;
  readonly waitsForTables: boolean;
}

/** The sources of reads besides state. */
type ReadSources = Pick<PlanCode, 'files' | 'queries'>;

function createReadBook(
  { options, memory }: EngineBase,
  renderer: Renderer,
  { files, queries }: ReadSources,
): ReadBook {
  /** Whether reads of volatile state and queries are recorded too. */
  const keepsPassing = options.keepVolatile === true;
  /** File contents are stored if there are blobs to store them in. */
  const keepsFiles = options.blobs !== undefined;
  const { ledger, volatile } = memory;
  const passing = new Set<string>();
  const tables = new Set<string>();
  const ofFiles = new Set<string>();
  const past = new Set<string>();
  let former: ReadonlySet<string> | undefined = memory.formerReads;

  const note = (set: Set<string>, key: string, isRead: boolean) => void (isRead ? set.add(key) : set.delete(key));

  return {
    put() {
      for (const key of former ?? []) if (!renderer.reads.has(key)) ledger.put('read', key, undefined);
      former = undefined;
      for (const key of renderer.takeReadChanges()) {
        if (key.startsWith(LOOP)) continue;
        const isRead = renderer.reads.has(key);
        if (key.startsWith(VOL) || key.startsWith(QUERY)) note(passing, key, isRead);
        if (key.startsWith(TABLE)) note(tables, key, isRead);
        if (key.startsWith(FILE)) note(ofFiles, key, isRead);
        if (key.startsWith(PAST)) note(past, key, isRead);
        ledger.put('read', key, isRead ? true : undefined);
      }
      for (const key of ofFiles) ledger.put('read', key, files.recordOf(key) ?? true);
      files.reading(ofFiles);
      if (!keepsPassing) return;
      for (const key of passing) {
        const value = key.startsWith(VOL) ? volatile.peek(key.slice(VOL.length)) : queries.answerOf(key);
        ledger.put('read', key, value === undefined ? {} : { value });
      }
    },
    get isRecorded() {
      return past.size === 0 && (keepsPassing || passing.size === 0) && (keepsFiles || ofFiles.size === 0);
    },
    get waitsForTables() {
      return tables.size > 0;
    },
  };
}
