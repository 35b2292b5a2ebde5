import { AsyncLocalStorage } from 'node:async_hooks';
import { Bug } from '@signalbox/model';
import type { Action, QueuedAction } from './action.ts';

/** Queued actions. Those of a handler or an effect stay in its transaction until it returns. */
export interface ActionQueue {
  push(action: Action, trigger?: string): void;
  /** Runs code of a node; its actions count only if it returns. Transactions do not nest. */
  transact<T>(origin: TransactionOrigin, code: () => T): Transacted<T>;
  /** Empties the queue. */
  take(): readonly QueuedAction[];
  readonly size: number;
  /** The origin of the open transaction. */
  readonly origin: TransactionOrigin | undefined;
  /** Keys that a node's code queued after its transaction, from a timer or a promise, since the last call. */
  takeLate(node: string): readonly string[];
}

interface Transacted<T> {
  readonly value: T;
  readonly transaction: number;
  /** Keys of its actions. */
  readonly keys: readonly string[];
}

interface TransactionOrigin {
  readonly node: string;
  readonly handler?: string;
  /** The trigger in the log, unless the author gives another. */
  readonly trigger: string;
}

/** `frameNow` returns the current frame; `onQueued` is called for writes outside any transaction. */
export function createActionQueue(frameNow: () => number, onQueued: () => void): ActionQueue {
  let queued: QueuedAction[] = [];
  let open:
    | { readonly origin: TransactionOrigin; readonly transaction: number; readonly actions: QueuedAction[] }
    | undefined;
  let transactions = 0;
  const counters = new Map<string, number>();
  /** The node whose code started the current call, even after its transaction. */
  const starter = new AsyncLocalStorage<string>();
  const late = new Map<string, Set<string>>();

  const nextIndex = (node: string): number => {
    const key = `${frameNow()} ${node}`;
    const index = counters.get(key) ?? 0;
    counters.set(key, index + 1);
    return index;
  };

  return {
    push(action, trigger) {
      const node = open?.origin.node ?? '';
      const placed: QueuedAction = {
        ...action,
        frame: frameNow(),
        node,
        index: nextIndex(node),
        transaction: open === undefined ? ++transactions : open.transaction,
        trigger: trigger ?? open?.origin.trigger ?? 'code',
        ...(open?.origin.handler === undefined ? {} : { handler: open.origin.handler }),
      };
      if (open !== undefined) open.actions.push(placed);
      else {
        queued.push(placed);
        const by = starter.getStore();
        if (by !== undefined) late.set(by, (late.get(by) ?? new Set()).add(action.key));
        onQueued();
      }
    },
    transact(origin, code) {
      if (open !== undefined) throw new Bug('a handler is running already');
      const transaction = ++transactions;
      open = { origin, transaction, actions: [] };
      try {
        const value = starter.run(origin.node, code);
        queued.push(...open.actions);
        return { value, transaction, keys: open.actions.map(({ key }) => key) };
      } finally {
        open = undefined;
      }
    },
    take() {
      const taken = queued;
      queued = [];
      counters.clear();
      return taken;
    },
    get size() {
      return queued.length;
    },
    get origin() {
      return open?.origin;
    },
    takeLate(node) {
      const keys = [...(late.get(node) ?? [])];
      late.delete(node);
      return keys;
    },
  };
}
