import { type ErrorEnvelope, err, failure, type Json, ok, type Result } from '@signalbox/model';
import { type AppendList, extended, listOf } from './append-list.ts';
import { plainValue } from './plain-value.ts';
import type { Slice, SliceOperation } from './slice.ts';
import type { SlicePolicy } from './slice-policy.ts';

export type DispatchError = ErrorEnvelope<'state/dispatch-failed'>;

export interface SliceChange {
  readonly slice: string;
  readonly operation: SliceOperation<Json>;
}

/** The values of a session's slices. `apply` accepts all changes or none. */
export interface SliceStore {
  get(slice: string): AppendList<Json>;
  apply(changes: readonly SliceChange[]): Result<void, DispatchError>;
}

/** A slice's metadata, shared by a session and its transactions. */
export interface SliceRegistration {
  readonly slice: Slice<Json>;
  policy: SlicePolicy;
}

const empty = (): AppendList<Json> => listOf<Json>([]);

export interface RootStore extends SliceStore {
  /** Sets whole values, logs too: for rollbacks. */
  set(values: ReadonlyMap<string, AppendList<Json>>): void;
}

export function createRootStore(): RootStore {
  const values = new Map<string, AppendList<Json>>();
  return {
    get: slice => values.get(slice) ?? empty(),
    apply(changes) {
      for (const { slice, operation } of changes) values.set(slice, operated(values.get(slice) ?? empty(), operation));
      return ok(undefined);
    },
    set(next) {
      for (const [slice, list] of next) values.set(slice, list);
    },
  };
}

/** A private overlay on another store. Log writes pass through at once; everything else waits for the commit. */
export function createOverlayStore(base: SliceStore, isLog: (slice: string) => boolean): SliceStore {
  const own = new Map<string, AppendList<Json>>();
  const get = (slice: string) => own.get(slice) ?? base.get(slice);
  return {
    get,
    apply(changes) {
      const logged = base.apply(changes.filter(change => isLog(change.slice)));
      if (!logged.ok) return logged;
      for (const { slice, operation } of changes) if (!isLog(slice)) own.set(slice, operated(get(slice), operation));
      return ok(undefined);
    },
  };
}

/** The operation with its items checked and frozen, or why it is refused. */
export function checkedOperation(
  registration: SliceRegistration,
  operation: SliceOperation<Json>,
): Result<SliceOperation<Json>, DispatchError> {
  const { slice, policy } = registration;
  if (policy === 'log' && (operation.kind === 'replace' || operation.kind === 'clear')) {
    return err(dispatchError(`slice ${slice.name} is a log and only grows: ${operation.kind} is refused`));
  }
  if (operation.kind === 'clear') return ok(operation);
  const items: Json[] = [];
  for (const item of operation.kind === 'append' ? [operation.item] : operation.items) {
    const parsed = plainValue(slice.item, item);
    if (!parsed.ok) return err(dispatchError(`an item for slice ${slice.name} is not valid: ${parsed.error}`));
    items.push(frozen(structuredClone(parsed.value)));
  }
  return ok(operation.kind === 'replace' ? { kind: 'replace', items } : { kind: 'extend', items });
}

export function dispatchError(message: string): DispatchError {
  return failure('state/dispatch-failed', {
    message,
    suggestion: 'Nothing was changed. Correct the event or the reducer and dispatch again.',
  });
}

function operated(list: AppendList<Json>, operation: SliceOperation<Json>): AppendList<Json> {
  switch (operation.kind) {
    case 'append':
      return extended(list, [operation.item]);
    case 'extend':
      return extended(list, operation.items);
    case 'replace':
      return listOf(operation.items);
    case 'clear':
      return empty();
  }
}

function frozen(value: Json): Json {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) frozen(part);
  }
  return value;
}
