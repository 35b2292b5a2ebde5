import { Bug, type NodeStatus } from '@signalbox/model';
import { DENIED } from '../failures/denial.ts';
import { isEndingKind, isLoopKind, isRunnableKind } from '../nodes/node-kind.ts';
import type { EffectNode, LoopNode, PlanNode, RunnableNode } from '../nodes/plan-node.ts';
import {
  type Cell,
  cellOf,
  groupOf,
  isBodyDone,
  isDone,
  liftSum,
  loopNode,
  ownStanding,
  type Sequence,
  sumOf,
} from './cell.ts';
import { executionSignature } from './execution-signature.ts';
import { countOf, iterationOf, type NodeRecord } from './node-record.ts';

/**
 * Which nodes may run, given the tree and the records of its nodes.
 *
 * 1. Siblings run together. Phases among siblings run in order, and so do Steps inside a Phase; nodes that only choose or repeat others
 *    (If, Switch, Each) are looked through.
 * 2. Inside a Step and inside a Parallel everything is free. A Parallel with a limit has at most that many children running.
 * 3. A loop runs its body, and runs it again while its condition holds and its maximum is not reached. Once left, it stays left.
 * 4. Work that succeeded does not run again, unless its signature or the iteration around it changed.
 */
export interface Structure {
  /** Undefined if there is no tree yet. */
  setTree(tree: PlanNode | undefined): void;
  /** The record of a node changed. */
  touch(id: string): void;
  activity(): Activity;
  statusOf(id: string): NodeStatus;
  /** Every node whose status may have changed since the last call. */
  takeTouched(): ReadonlySet<string>;
  /** The iteration around a node, over the whole run, and the loop whose iterations its work counts. */
  scopeOf(id: string): number;
  loopOf(id: string): string | undefined;
  signatureOf(id: string): string | undefined;
  /** Whether the node holds up what comes after it: it failed, and the plan has not taken that in. */
  holdsUp(id: string): boolean;
  nodeOf(id: string): PlanNode | undefined;
  readonly hasTree: boolean;
}

/** What is running and what may run. */
export interface Activity {
  /** May start now; in tree order. */
  readonly ready: readonly RunnableNode[];
  /** Effects whose place was reached. */
  readonly effects: readonly EffectNode[];
  readonly turns: readonly LoopTurn[];
  readonly ending: PlanNode | undefined;
  readonly live: number;
  readonly blocked: number;
  readonly failed: number;
  /** Nothing is left to do. */
  readonly done: boolean;
}

/** A reached loop at the beginning or the end of a body. */
export interface LoopTurn {
  readonly loop: LoopNode;
  readonly turn: 'enter' | 'advance' | 'leave';
}

export interface StructureOptions {
  recordOf(id: string): NodeRecord | undefined;
  /** What results depend on beyond the plan: another fingerprint is other work. */
  readonly environment?: string;
}

export function createStructure({ recordOf, environment = '' }: StructureOptions): Structure {
  let root: Cell | undefined;
  const cells = new Map<string, Cell>();
  let touched = new Set<string>();
  const source = {
    recordOf,
    totalOf: (loop: string | undefined) => (loop === undefined ? 0 : (recordOf(loop)?.loop?.total ?? 0)),
    signatureOf: (node: RunnableNode) => executionSignature(node, environment),
  };

  const index = (cell: Cell) => {
    if (cells.get(cell.node.id) === cell) return;
    cells.set(cell.node.id, cell);
    touched.add(cell.node.id);
    for (const child of cell.children) index(child);
  };

  const remove = (cell: Cell) => {
    if (cells.get(cell.node.id) === cell) cells.delete(cell.node.id);
    for (const child of cell.children) remove(child);
  };

  const refresh = (cell: Cell) => {
    for (const child of cell.children) refresh(child);
    cell.own = ownStanding(cell, source);
    cell.sum = sumOf(cell);
    cell.group = undefined;
    touched.add(cell.node.id);
  };

  return {
    setTree(tree) {
      if (root?.node === tree) return;
      const before = root;
      if (tree === undefined) {
        root = undefined;
        cells.clear();
        touched.clear();
        return;
      }
      root = cellOf(tree, before, { parent: undefined, skipped: false, scope: undefined, ordered: 'phases' }, source);
      if (before !== undefined) removeReplaced(before, root, remove);
      index(root);
    },
    touch(id) {
      const cell = cells.get(id);
      if (cell === undefined) return;
      const before = { ...cell.sum };
      if (isLoopKind(cell.node.kind)) refresh(cell);
      else {
        cell.own = ownStanding(cell, source);
        cell.sum = sumOf(cell);
      }
      liftSum(cell, before);
      for (let at: Cell | undefined = cell; at !== undefined; at = at.parent) touched.add(at.node.id);
    },
    activity() {
      if (root === undefined) throw new Bug('there is no tree yet');
      const found: Found = { ready: [], effects: [], turns: [], ending: undefined };
      visit(root, found, recordOf);
      const { live, blocked, failed } = root.sum;
      return { ...found, live, blocked, failed, done: isDone(root) };
    },
    statusOf(id) {
      const cell = cells.get(id);
      return cell === undefined ? 'idle' : statusOf(cell, recordOf(id));
    },
    takeTouched() {
      const taken = touched;
      touched = new Set();
      return taken;
    },
    scopeOf: id => source.totalOf(cells.get(id)?.scope),
    loopOf(id) {
      let cell = cells.get(id);
      // A Recover repeats nothing: work in it counts the iterations of the loop around it.
      do cell = cell?.scope === undefined ? undefined : cells.get(cell.scope);
      while (cell?.node.kind === 'recover');
      return cell?.node.id;
    },
    signatureOf(id) {
      const cell = cells.get(id);
      if (cell === undefined || !isRunnableKind(cell.node.kind)) return undefined;
      cell.signature ??= source.signatureOf(cell.node as RunnableNode);
      return cell.signature;
    },
    holdsUp: id => cells.get(id)?.own === 'failed',
    nodeOf: id => cells.get(id)?.node,
    get hasTree() {
      return root !== undefined;
    },
  };
}

interface Found {
  readonly ready: RunnableNode[];
  readonly effects: EffectNode[];
  readonly turns: LoopTurn[];
  ending: PlanNode | undefined;
}

/** Visits everything that is reached and not done, and effects. True if anything there is or may be running. */
function visit(cell: Cell, found: Found, recordOf: (id: string) => NodeRecord | undefined): boolean {
  const { leaves, live, blocked, done, failed, effects } = cell.sum;
  if (cell.skipped) return false;
  // Everything here has started: there is nothing to find.
  if (effects === 0 && live + blocked + done + failed === leaves) return live + blocked > 0;
  const { node } = cell;
  if (node.kind === 'effect') {
    found.effects.push(node);
    return false;
  }
  if (isEndingKind(node.kind)) {
    found.ending ??= node;
    return true;
  }
  if (isRunnableKind(node.kind)) {
    if (cell.own === 'idle') found.ready.push(node as RunnableNode);
    return cell.own !== 'failed';
  }
  if (isLoopKind(node.kind) && visitLoop(cell, found, recordOf)) return true;
  if (node.kind === 'parallel' && node.data.limit !== undefined)
    return visitSome(cell, node.data.limit, found, recordOf);
  const group = groupOf(cell);
  let busy = false;
  for (const child of group.together) busy = visit(child, found, recordOf) || busy;
  busy = visitInOrder(group.phases, cell.sum.effects > 0, found, recordOf) || busy;
  return visitInOrder(group.steps, cell.sum.effects > 0, found, recordOf) || busy;
}

/** True if the loop is at a turn, so that its body does not count now. */
function visitLoop(cell: Cell, found: Found, recordOf: (id: string) => NodeRecord | undefined): boolean {
  const loop = loopNode(cell);
  const { goesOn, maxIterations } = loop.data;
  if (cell.own === 'idle') {
    found.turns.push({ loop, turn: goesOn ? 'enter' : 'leave' });
    return true;
  }
  if (cell.own !== 'live') return false;
  const record = recordOf(loop.id);
  if (isToRecover(cell, recordOf)) {
    const inner = innerToRecover(cell, recordOf);
    // What is under way there may end, and nothing more begins. A Recover in it comes first.
    for (const other of inner) visitLoop(other, found, recordOf);
    if (inner.length === 0 && cell.sum.live === 0) found.turns.push({ loop, turn: 'advance' });
    return true;
  }
  if (!isBodyDone(cell)) return false;
  if (loop.kind === 'recover') {
    found.turns.push({ loop, turn: 'leave' });
    return true;
  }
  const goes = goesOn && (record === undefined ? 0 : countOf(record)) < maxIterations;
  found.turns.push({ loop, turn: goes ? 'advance' : 'leave' });
  return true;
}

/** Whether the fallback of a Recover is next. */
function isToRecover(cell: Cell, recordOf: (id: string) => NodeRecord | undefined): boolean {
  const { node, own, sum } = cell;
  const isTried = node.kind === 'recover' && own === 'live' && iterationOf(recordOf(node.id)) === 0;
  return isTried && sum.failed > 0 && isRecoverable(cell, recordOf);
}

function innerToRecover(cell: Cell, recordOf: (id: string) => NodeRecord | undefined): readonly Cell[] {
  return cell.children.flatMap(child => {
    if (child.skipped || child.sum.failed === 0) return [];
    return isToRecover(child, recordOf) ? [child] : innerToRecover(child, recordOf);
  });
}

/** Whether everything in it that holds the plan up has failed. What a person denied or canceled is no failure. */
function isRecoverable(cell: Cell, recordOf: (id: string) => NodeRecord | undefined): boolean {
  if (cell.own !== 'failed') return cell.children.every(child => child.skipped || isRecoverable(child, recordOf));
  const { status, reason } = recordOf(cell.node.id) ?? {};
  return status === 'failed' && reason?.startsWith(DENIED) !== true;
}

function visitInOrder(
  sequence: Sequence,
  effects: boolean,
  found: Found,
  recordOf: (id: string) => NodeRecord | undefined,
): boolean {
  const { cells } = sequence;
  for (let cell = cells[sequence.next]; cell !== undefined && isDone(cell); cell = cells[sequence.next])
    sequence.next += 1;
  if (effects) for (const cell of cells.slice(0, sequence.next)) visit(cell, found, recordOf);
  const next = cells[sequence.next];
  return next !== undefined && visit(next, found, recordOf);
}

/** Started children keep their place; others take the rest of the limit, in order. Looks only at children that may have moved. */
function visitSome(cell: Cell, limit: number, found: Found, recordOf: (id: string) => NodeRecord | undefined): boolean {
  const group = groupOf(cell);
  const { together } = group;
  for (let item = together[group.finished]; item !== undefined && isFinished(item); item = together[group.finished])
    group.finished += 1;
  const { finished } = group;
  if (underWay(together.slice(finished, group.reached)) !== cell.sum.live + cell.sum.blocked)
    group.reached = together.length;
  let busy = 0;
  let reached = finished;
  for (const [at, item] of together.slice(finished, group.reached).entries()) {
    if (!hasBegun(item)) continue;
    reached = finished + at + 1;
    if (visit(item, found, recordOf)) busy += 1;
  }
  for (let at = finished; busy < limit; at++) {
    const item = together[at];
    if (item === undefined) break;
    if (at < group.reached && hasBegun(item)) continue;
    reached = Math.max(reached, at + 1);
    if (visit(item, found, recordOf)) busy += 1;
  }
  group.reached = reached;
  return busy > 0;
}

/** Nothing is left to find here, unless its leaves are reset. */
function isFinished(cell: Cell): boolean {
  return isDone(cell) && cell.sum.effects === 0;
}

function underWay(cells: readonly Cell[]): number {
  return cells.reduce((sum, { sum: { live, blocked } }) => sum + live + blocked, 0);
}

function hasBegun(cell: Cell): boolean {
  const { live, blocked, done, failed } = cell.sum;
  return live + blocked + done + failed > 0 || (isLoopKind(cell.node.kind) && cell.own === 'live');
}

function statusOf(cell: Cell, record: NodeRecord | undefined): NodeStatus {
  // What made a Recover run its fallback stays failed.
  if (cell.skipped) return isCaught(cell, record) ? 'failed' : 'skipped';
  const { kind } = cell.node;
  if (isRunnableKind(kind)) return cell.own === 'idle' || record === undefined ? 'idle' : record.status;
  if (kind === 'effect' || isEndingKind(kind)) return record?.status ?? 'idle';
  const { leaves, live, blocked, done, failed } = cell.sum;
  if (leaves > 0 && done === leaves) return 'succeeded';
  if (live > 0) return 'running';
  if (blocked > 0) return 'blocked';
  if (failed > 0) return 'failed';
  return done > 0 || cell.own === 'live' ? 'running' : 'idle';
}

function isCaught(cell: Cell, record: NodeRecord | undefined): boolean {
  if (record?.status !== 'failed' || record.gone === true) return false;
  for (let at = cell.parent; at !== undefined; at = at.parent) if (at.node.kind === 'recover') return true;
  return false;
}

/** Cells of the old tree that the new one did not keep. */
function removeReplaced(before: Cell, after: Cell, remove: (cell: Cell) => void): void {
  if (before === after) return;
  let kept: Map<string, Cell> | undefined;
  for (const [position, child] of before.children.entries()) {
    const same = after.children[position];
    if (same === child) continue;
    kept ??= new Map(after.children.map(cell => [cell.node.id, cell]));
    const now = kept.get(child.node.id);
    if (now === undefined) remove(child);
    else removeReplaced(child, now, remove);
  }
}
