import { DENIED } from '../failures/denial.ts';
import { isEndingKind, isLoopKind, isRunnableKind, type NodeKind } from '../nodes/node-kind.ts';
import { nodeKinds } from '../nodes/node-kinds.ts';
import type { LoopNode, PlanNode, RunnableNode } from '../nodes/plan-node.ts';
import { type NodeRecord, type Standing, standingOf } from './node-record.ts';

/** A node in its place, with sums over its descendants. Cells outlive frames: a frame touches those that changed. */
export interface Cell {
  readonly node: PlanNode;
  parent: Cell | undefined;
  readonly children: readonly Cell[];
  /** In a branch that was not taken. */
  readonly skipped: boolean;
  /** The innermost loop around it. */
  readonly scope: string | undefined;
  /** Which of its children run in order. */
  readonly ordered: Ordered;
  /** Its own standing; undefined if it is only the sum of its children. */
  own: Standing | undefined;
  sum: Sum;
  group: Group | undefined;
  signature: string | undefined;
}

/** Phases run in order unless something around them sets them free; Steps only inside a Phase. */
export type Ordered = 'nothing' | 'phases' | 'phases and steps';

/** Leaves under a cell that are not skipped. */
export interface Sum {
  leaves: number;
  live: number;
  blocked: number;
  done: number;
  failed: number;
  effects: number;
}

/** The content that runs side by side or in order under a cell, looking through nodes without their own order. */
export interface Group {
  readonly together: readonly Cell[];
  /** Everything in `together` before this is done and has no effects. */
  finished: number;
  /** Nothing in `together` from here on has begun, as far as is known. */
  reached: number;
  readonly phases: Sequence;
  readonly steps: Sequence;
}

/** Cells in order. Everything before `next` is done. */
export interface Sequence {
  readonly cells: readonly Cell[];
  next: number;
}

export interface CellSource {
  recordOf(id: string): NodeRecord | undefined;
  /** The number of iterations that a loop started over the whole run. */
  totalOf(loop: string | undefined): number;
  signatureOf(node: RunnableNode): string;
}

/** The cell of a node; parts whose node is the same object keep theirs. */
export function cellOf(
  node: PlanNode,
  before: Cell | undefined,
  place: {
    readonly parent: Cell | undefined;
    readonly skipped: boolean;
    readonly scope: string | undefined;
    readonly ordered: Ordered;
  },
  source: CellSource,
): Cell {
  const skipped = place.skipped || (node.kind === 'branch' && !node.data.taken);
  const ordered = orderedIn(node.kind, place.ordered);
  if (
    before?.node === node &&
    before.skipped === skipped &&
    before.scope === place.scope &&
    before.ordered === ordered
  ) {
    before.parent = place.parent;
    return before;
  }
  const scope = isLoopKind(node.kind) ? node.id : place.scope;
  const known = before === undefined || before.children.length === 0 ? undefined : childFinder(before);
  const cell: { -readonly [Field in keyof Cell]: Cell[Field] } = {
    node,
    parent: place.parent,
    children: [],
    skipped,
    scope: place.scope,
    ordered,
    own: undefined,
    sum: emptySum(),
    group: undefined,
    signature: undefined,
  };
  cell.children = node.children.map((child, position) =>
    cellOf(child, known?.(child.id, position), { parent: cell, skipped, scope, ordered }, source),
  );
  cell.own = ownStanding(cell, source);
  cell.sum = sumOf(cell);
  return cell;
}

function orderedIn(kind: NodeKind, around: Ordered): Ordered {
  const { flow } = nodeKinds[kind];
  if (flow === 'phase') return 'phases and steps';
  return flow === 'step' || flow === 'free' ? 'nothing' : around;
}

/** The standing of a leaf, an ending or a loop itself. */
export function ownStanding(cell: Cell, source: CellSource): Standing | undefined {
  const { node } = cell;
  if (cell.skipped) return undefined;
  if (isEndingKind(node.kind)) return 'idle';
  const record = source.recordOf(node.id);
  if (isLoopKind(node.kind)) {
    if (record?.loop === undefined || record.iteration !== source.totalOf(cell.scope)) return 'idle';
    return record.loop.left ? 'done' : 'live';
  }
  if (!isRunnableKind(node.kind)) return undefined;
  if (record === undefined || record.iteration !== source.totalOf(cell.scope)) return 'idle';
  const standing = standingOf(record.status);
  // A result that waits for its handler is of no use to other work.
  const isOver = standing === 'done' || standing === 'failed' || record.unhandled === true;
  if (!isOver) return standing;
  cell.signature ??= source.signatureOf(node as RunnableNode);
  if (record.signature !== cell.signature) return 'idle';
  return standing === 'failed' && isTakenIn(node as RunnableNode, record) ? 'done' : standing;
}

/** Whether what comes after a failed node goes on. An operator's cancellation is no failure of the work. */
function isTakenIn({ data }: RunnableNode, { status, unhandled, reason }: NodeRecord): boolean {
  if (status !== 'failed' || unhandled === true) return false;
  if ('allowFailure' in data && data.allowFailure === true) return true;
  return 'mayBeDenied' in data && data.mayBeDenied === true && reason?.startsWith(DENIED) === true;
}

export function sumOf(cell: Cell): Sum {
  const sum = emptySum();
  if (cell.skipped) return sum;
  const { kind } = cell.node;
  if (isLoopKind(kind)) {
    const body = cell.own === 'live' ? childrenSum(cell, sum) : sum;
    // The loop itself is one leaf, done when the loop is left; until it is entered its body does not count.
    body.leaves += 1;
    if (cell.own === 'done') body.done += 1;
    if (cell.own === 'done') body.effects = 0;
    return body;
  }
  if (kind === 'effect') {
    sum.effects = 1;
    return sum;
  }
  if (cell.own !== undefined) {
    sum.leaves = 1;
    if (cell.own !== 'idle') sum[cell.own] = 1;
    return sum;
  }
  return childrenSum(cell, sum);
}

function childrenSum(cell: Cell, sum: Sum): Sum {
  for (const child of cell.children) {
    const part = child.sum;
    sum.leaves += part.leaves;
    sum.live += part.live;
    sum.blocked += part.blocked;
    sum.done += part.done;
    sum.failed += part.failed;
    sum.effects += part.effects;
  }
  return sum;
}

/** Applies the change of a cell's sum to its ancestors. */
export function liftSum(cell: Cell, before: Sum): void {
  const { sum } = cell;
  for (let at = cell.parent; at !== undefined; at = at.parent) {
    if (at.skipped || (isLoopKind(at.node.kind) && at.own !== 'live')) return;
    at.sum.leaves += sum.leaves - before.leaves;
    at.sum.live += sum.live - before.live;
    at.sum.blocked += sum.blocked - before.blocked;
    at.sum.done += sum.done - before.done;
    at.sum.failed += sum.failed - before.failed;
    at.sum.effects += sum.effects - before.effects;
    if (sum.done < before.done || sum.leaves > before.leaves) rewind(at);
  }
}

/** Something under the owner is no longer done: its sequences go back to the first that is not. */
function rewind(owner: Cell): void {
  const { group } = owner;
  if (group === undefined) return;
  group.finished = 0;
  for (const sequence of [group.phases, group.steps]) {
    const first = sequence.cells.findIndex(item => !isDone(item));
    if (first >= 0 && first < sequence.next) sequence.next = first;
  }
}

export function isDone(cell: Cell): boolean {
  return cell.skipped || cell.sum.done === cell.sum.leaves;
}

/** The body of a loop is done; the loop itself may continue. */
export function isBodyDone(loop: Cell): boolean {
  return loop.children.every(isDone);
}

export function groupOf(owner: Cell): Group {
  if (owner.group !== undefined) return owner.group;
  const together: Cell[] = [];
  const phases: Cell[] = [];
  const steps: Cell[] = [];
  const walk = (cell: Cell) => {
    for (const child of cell.children) {
      if (child.skipped) continue;
      const { flow } = nodeKinds[child.node.kind];
      if (flow === 'through') walk(child);
      else if (owner.ordered !== 'nothing' && flow === 'phase') phases.push(child);
      else if (owner.ordered === 'phases and steps' && flow === 'step') steps.push(child);
      else together.push(child);
    }
  };
  walk(owner);
  owner.group = {
    ...{ together, finished: 0, reached: together.length },
    ...{ phases: { cells: phases, next: 0 }, steps: { cells: steps, next: 0 } },
  };
  return owner.group;
}

export function loopNode(cell: Cell): LoopNode {
  return cell.node as LoopNode;
}

function emptySum(): Sum {
  return { leaves: 0, live: 0, blocked: 0, done: 0, failed: 0, effects: 0 };
}

/** Finds the former cell of a child: most often at the same position. */
function childFinder(before: Cell): (id: string, position: number) => Cell | undefined {
  let byId: Map<string, Cell> | undefined;
  return (id, position) => {
    const same = before.children[position];
    if (same?.node.id === id) return same;
    byId ??= new Map(before.children.map(cell => [cell.node.id, cell]));
    return byId.get(id);
  };
}
