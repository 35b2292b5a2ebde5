import type { Json, JsonObject } from '@signalbox/model';
import { handlerNames, namesOf } from '../nodes/handlers.ts';
import { isRunnable, type PlanNode } from '../nodes/plan-node.ts';
import type { SourcePosition } from '../plan-error.ts';
import { plainText } from '../state/plain-text.ts';

/** The step from one tree to the next, by id. */
export interface Reconciled {
  /** In the order of the new tree. */
  readonly mounted: readonly PlanNode[];
  /** In the order of the old tree. */
  readonly unmounted: readonly PlanNode[];
  /** Running tasks whose node still exists: they continue. */
  readonly stillRunning: readonly string[];
  /** Running tasks whose node is gone: they are canceled. */
  readonly toCancel: readonly string[];
  /** Tasks that ended after their node had left: stored, without handlers. */
  readonly staleResults: readonly string[];
  /** Rows that are new or different. */
  readonly rows: ReadonlyMap<string, NodeRow>;
}

/** A node without its children: its parent and its content. */
export interface NodeRow {
  readonly kind: string;
  /** Absent for the root. */
  readonly parent?: string;
  readonly index: number;
  readonly key?: string;
  readonly source?: SourcePosition;
  /** Names of its handlers, if its kind can have any. They are not part of a frame's hash. */
  readonly handlers?: readonly string[];
  readonly data: Json;
}

export interface TaskOfNode {
  readonly task: string;
  readonly node: string;
  readonly ended: boolean;
}

/** Compares two trees. Identical objects are not compared further. */
export function reconcile(
  before: PlanNode | undefined,
  after: PlanNode,
  tasks: readonly TaskOfNode[] = [],
): Reconciled {
  const came = new Map<string, PlanNode>();
  const gone = new Map<string, PlanNode>();
  const rows = new Map<string, NodeRow>();
  const add = (node: PlanNode, parent: string | undefined, index: number) => {
    came.set(node.id, node);
    rows.set(node.id, rowOf(node, parent, index));
    node.children.forEach((child, position) => {
      add(child, node.id, position);
    });
  };
  const drop = (node: PlanNode) => {
    gone.set(node.id, node);
    node.children.forEach(drop);
  };
  const compare = (old: PlanNode, now: PlanNode, parent: string | undefined, index: number, moved: boolean) => {
    if (moved || (old !== now && !sameRow(old, now))) rows.set(now.id, rowOf(now, parent, index));
    if (old !== now) compareChildren(old, now);
  };
  const compareChildren = (old: PlanNode, now: PlanNode) => {
    const former = new Map<string, number>();
    old.children.forEach((child, position) => {
      if (child !== now.children[position]) former.set(child.id, position);
    });
    now.children.forEach((child, position) => {
      if (child === old.children[position]) return;
      const at = former.get(child.id);
      const match = at === undefined ? undefined : old.children[at];
      if (match === undefined || match.kind !== child.kind) {
        add(child, now.id, position);
        return;
      }
      former.delete(child.id);
      compare(match, child, now.id, position, at !== position);
    });
    for (const position of former.values()) {
      const child = old.children[position];
      if (child !== undefined) drop(child);
    }
  };

  if (before === undefined) add(after, undefined, 0);
  else compare(before, after, undefined, 0, false);

  const isMove = (id: string) => came.has(id) && came.get(id)?.kind === gone.get(id)?.kind;
  const unmounted = [...gone.values()].filter(node => !isMove(node.id));
  const left = new Set(unmounted.map(node => node.id));
  const live = tasks.filter(task => !task.ended);
  return {
    mounted: [...came.values()].filter(node => !isMove(node.id)),
    unmounted,
    stillRunning: live.filter(task => !left.has(task.node)).map(task => task.task),
    toCancel: live.filter(task => left.has(task.node)).map(task => task.task),
    staleResults: tasks.filter(task => task.ended && left.has(task.node)).map(task => task.task),
    rows,
  };
}

function rowOf(node: PlanNode, parent: string | undefined, index: number): NodeRow {
  return {
    kind: node.kind,
    ...(parent === undefined ? {} : { parent }),
    index,
    ...(node.key === undefined ? {} : { key: node.key }),
    ...(node.source === undefined ? {} : { source: node.source }),
    ...(isRunnable(node) ? { handlers: namesOf(node.code.handlers) } : {}),
    data: node.data as Json,
  };
}

function sameRow(a: PlanNode, b: PlanNode): boolean {
  return (
    a.key === b.key &&
    a.source?.line === b.source?.line &&
    a.source?.column === b.source?.column &&
    a.source?.file === b.source?.file &&
    sameHandlers(a, b) &&
    sameData(a.data as JsonObject, b.data as JsonObject)
  );
}

/** Functions differ in every render; only which handlers exist is stored. */
function sameHandlers(a: PlanNode, b: PlanNode): boolean {
  if (!isRunnable(a) || !isRunnable(b)) return true;
  const [before, now] = [a.code.handlers, b.code.handlers];
  return handlerNames.every(name => (before[name] === undefined) === (now[name] === undefined));
}

/** Members are usually identical; only if not, their content is compared. */
function sameData(a: JsonObject, b: JsonObject): boolean {
  if (a === b) return true;
  const names = Object.keys(a);
  if (names.length === Object.keys(b).length && names.every(name => Object.is(a[name], b[name]))) return true;
  return plainText(a) === plainText(b);
}
