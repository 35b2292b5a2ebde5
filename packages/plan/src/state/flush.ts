import type { Json } from '@signalbox/model';
import { thrownText } from '@signalbox/model';
import { type Change, changeBetween } from '@signalbox/runs';
import { PlanError } from '../plan-error.ts';
import { type ActionOrigin, inOrder, type QueuedAction } from './action.ts';
import { frozen } from './frozen.ts';

/** The result of a flush. */
export interface Flushed {
  /** Changed keys; undefined if the key is gone. */
  readonly changes: ReadonlyMap<string, Json | undefined>;
  /** Every action that changed something, in the order of application. */
  readonly applied: readonly AppliedAction[];
  /** Transactions that were not applied, because a reducer threw or a result is invalid. */
  readonly failed: ReadonlyMap<number, PlanError>;
}

export interface AppliedAction extends ActionOrigin {
  readonly key: string;
  readonly old: Json | undefined;
  readonly new: Json | undefined;
  /** From `before` to `after`. */
  readonly change: Change;
}

/**
 * Applies actions as one step, in order: the last `set` wins, `update` sees the latest value, `init` counts only if the key is absent. A
 * failed transaction leaves no trace, not even for later reducers.
 */
export function flush(
  actions: readonly QueuedAction[],
  read: (key: string) => Json | undefined,
  check: (key: string, value: Json) => PlanError | undefined,
  clean: (key: string, value: Json) => Json = (_, value) => value,
): Flushed {
  const ordered = inOrder(actions);
  const failed = new Map<number, PlanError>();
  for (;;) {
    const attempt = applyAll(ordered, failed, read, check, clean);
    if (attempt.kind === 'applied') return { changes: attempt.changes, applied: attempt.applied, failed };
    failed.set(attempt.transaction, attempt.error);
  }
}

type Attempt =
  | {
      readonly kind: 'applied';
      readonly changes: Map<string, Json | undefined>;
      readonly applied: readonly AppliedAction[];
    }
  | { readonly kind: 'failed'; readonly transaction: number; readonly error: PlanError };

function applyAll(
  actions: readonly QueuedAction[],
  without: ReadonlyMap<number, unknown>,
  read: (key: string) => Json | undefined,
  check: (key: string, value: Json) => PlanError | undefined,
  clean: (key: string, value: Json) => Json,
): Attempt {
  const now = new Map<string, Json | undefined>();
  /** Keys that changed more than once, and so may have returned to their old value. */
  const again = new Set<string>();
  const applied: AppliedAction[] = [];
  for (const action of actions) {
    if (without.has(action.transaction)) continue;
    const { key } = action;
    const old = now.has(key) ? now.get(key) : read(key);
    const made = nextValue(action, old, check);
    if (made instanceof PlanError) return { kind: 'failed', transaction: action.transaction, error: made };
    const next = made === undefined || made === old ? made : cleaned(made, clean(key, made));
    const change = changeBetween(old, next);
    if (change === undefined) continue;
    if (now.has(key)) again.add(key);
    now.set(key, next);
    const { frame, node, index, transaction, trigger, handler } = action;
    applied.push({
      frame,
      node,
      index,
      transaction,
      trigger,
      ...(handler === undefined ? {} : { handler }),
      key,
      old,
      new: next,
      change,
    });
  }
  for (const key of again) if (changeBetween(read(key), now.get(key)) === undefined) now.delete(key);
  return { kind: 'applied', changes: now, applied };
}

/** Freezes a value that was cleaned. */
function cleaned(made: Json, kept: Json): Json {
  if (kept === made) return made;
  const plain = frozen(kept);
  return plain.ok ? plain.value : made;
}

function nextValue(
  action: QueuedAction,
  old: Json | undefined,
  check: (key: string, value: Json) => PlanError | undefined,
): Json | undefined | PlanError {
  switch (action.kind) {
    case 'set':
      return action.value;
    case 'init':
      return old === undefined ? action.value : old;
    case 'delete':
      return undefined;
    case 'update':
      return reduced(action.key, action.reduce, old, check);
  }
}

function reduced(
  key: string,
  reduce: (value: Json | undefined) => unknown,
  old: Json | undefined,
  check: (key: string, value: Json) => PlanError | undefined,
): Json | undefined | PlanError {
  let made: unknown;
  try {
    made = reduce(old);
  } catch (cause) {
    return new PlanError('plan/handler-failed', `the reducer of '${key}' threw ${thrownText(cause)}`, { cause });
  }
  if (made === undefined) return undefined;
  const plain = frozen(made);
  if (!plain.ok)
    return new PlanError('plan/state-invalid', `the reducer of '${key}' did not return plain data: ${plain.error}`);
  return check(key, plain.value) ?? plain.value;
}
