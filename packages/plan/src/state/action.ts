import type { Json } from '@signalbox/model';

/** A requested change of state. It waits for the flush. */
export type Action =
  | { readonly kind: 'set'; readonly key: string; readonly value: Json }
  | { readonly kind: 'init'; readonly key: string; readonly value: Json }
  | { readonly kind: 'delete'; readonly key: string }
  | { readonly kind: 'update'; readonly key: string; readonly reduce: (value: Json | undefined) => unknown };

/** Who asked, and when: orders actions and goes into the transition log. */
export interface ActionOrigin {
  readonly frame: number;
  /** Empty if no node asked. */
  readonly node: string;
  /** Counts the actions of a node in a frame. */
  readonly index: number;
  /** Actions of one handler or effect: all of them count, or none. */
  readonly transaction: number;
  readonly trigger: string;
  readonly handler?: string;
}

export type QueuedAction = Action & ActionOrigin;

/** The order in which a flush applies actions, whatever order they came in: frame, node, index. */
export function inOrder(actions: readonly QueuedAction[]): readonly QueuedAction[] {
  return [...actions].sort((a, b) => a.frame - b.frame || compareText(a.node, b.node) || a.index - b.index);
}

/** By code units, the same in every locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
