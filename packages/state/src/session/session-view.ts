import { Bug, err, type Json, ok, type Result, thrownMessage } from '@signalbox/model';
import { itemsOf, lastOf } from './append-list.ts';
import { plainValue } from './plain-value.ts';
import type { Reducer, SessionEvent, Slice, SliceOperation } from './slice.ts';
import type { SlicePolicy } from './slice-policy.ts';
import {
  checkedOperation,
  type DispatchError,
  dispatchError,
  type RootStore,
  type SliceChange,
  type SliceRegistration,
  type SliceStore,
} from './slice-store.ts';

/** What a session and a call's private view of it can both do. */
export interface SessionView {
  slice<T>(slice: Slice<T>): SliceHandle<T>;
  /** Passes the event to every reducer registered for it. Either all of their operations are applied, or none. */
  dispatch<E>(event: SessionEvent<E>, payload: E): Result<void, DispatchError>;
}

export interface SliceHandle<T> {
  latest(): T | undefined;
  all(): readonly T[];
  where(predicate: (item: T) => boolean): readonly T[];
  /** Sets the initial items. A log can be seeded only while it is empty. */
  seed(items: readonly T[]): Result<void, DispatchError>;
  clear(): Result<void, DispatchError>;
  register<E>(event: SessionEvent<E>, reducer: Reducer<T, E>, options?: { policy?: SlicePolicy }): void;
}

/** What a session and its transactions share: slices, reducers and the root values. */
export interface SessionCore {
  readonly store: RootStore;
  readonly registrations: Map<string, SliceRegistration>;
  readonly reducers: Map<string, { readonly slice: string; readonly reducer: Reducer<Json, Json> }[]>;
}

/** An action through a view, recorded so that it can be repeated on other values. */
export type SessionAction =
  | { readonly kind: 'dispatch'; readonly event: string; readonly payload: Json }
  | { readonly kind: 'operations'; readonly changes: readonly SliceChange[] };

export function createView(
  core: SessionCore,
  store: SliceStore,
  done: (action: SessionAction, changes: readonly SliceChange[]) => void = () => {},
): SessionView {
  return {
    slice: slice => {
      registered(core, slice);
      return sliceHandle(core, store, slice, done);
    },
    dispatch(event, payload) {
      const parsed = plainValue(event.payload, payload);
      if (!parsed.ok) return err(dispatchError(`event ${event.name}: ${parsed.error}`));
      const changes = reduced(core, store, event.name, parsed.value);
      if (!changes.ok) return changes;
      const applied = store.apply(changes.value);
      if (applied.ok) done({ kind: 'dispatch', event: event.name, payload: parsed.value }, changes.value);
      return applied;
    },
  };
}

/** The operations of an event's reducers, computed before any of them is applied. */
export function reduced(
  core: SessionCore,
  store: SliceStore,
  event: string,
  payload: Json,
): Result<readonly SliceChange[], DispatchError> {
  const changes: SliceChange[] = [];
  for (const { slice, reducer } of core.reducers.get(event) ?? []) {
    let operation: SliceOperation<Json>;
    try {
      operation = reducer(itemsOf(store.get(slice)), payload);
    } catch (cause) {
      return err(dispatchError(`a reducer of slice ${slice} threw on ${event}: ${thrownMessage(cause)}`));
    }
    const checked = checkedOperation(registrationOf(core, slice), operation);
    if (!checked.ok) return checked;
    changes.push({ slice, operation: checked.value });
  }
  return ok(changes);
}

export function isLog(core: SessionCore, slice: string): boolean {
  return registrationOf(core, slice).policy === 'log';
}

function sliceHandle<T>(
  core: SessionCore,
  store: SliceStore,
  slice: Slice<T>,
  done: (action: SessionAction, changes: readonly SliceChange[]) => void,
): SliceHandle<T> {
  // Everything in this slice went through its schema, so the items are T.
  const items = () => itemsOf(store.get(slice.name)) as readonly T[];
  const operate = (operation: SliceOperation<Json>): Result<void, DispatchError> => {
    const checked = checkedOperation(registrationOf(core, slice.name), operation);
    if (!checked.ok) return checked;
    const changes = [{ slice: slice.name, operation: checked.value }];
    const applied = store.apply(changes);
    if (applied.ok) done({ kind: 'operations', changes }, changes);
    return applied;
  };
  return {
    latest: () => lastOf(store.get(slice.name)) as T | undefined,
    all: items,
    where: predicate => items().filter(predicate),
    // The schema, whose output is plain data, checks every seed.
    seed: seeds =>
      operate(
        isLog(core, slice.name) && store.get(slice.name).length === 0
          ? { kind: 'extend', items: seeds as readonly Json[] }
          : { kind: 'replace', items: seeds as readonly Json[] },
      ),
    clear: () => operate({ kind: 'clear' }),
    register(event, reducer, options) {
      if (options?.policy !== undefined) registrationOf(core, slice.name).policy = options.policy;
      // Payloads and items pass their schemas before a reducer sees them.
      const list = core.reducers.get(event.name) ?? [];
      list.push({ slice: slice.name, reducer: reducer as unknown as Reducer<Json, Json> });
      core.reducers.set(event.name, list);
    },
  };
}

function registered<T>(core: SessionCore, slice: Slice<T>): void {
  const known = core.registrations.get(slice.name);
  if (known === undefined) {
    core.registrations.set(slice.name, { slice: slice as unknown as Slice<Json>, policy: slice.policy });
  } else if ((known.slice as unknown) !== slice) {
    throw new Bug(`two slices are named ${slice.name}`);
  }
}

function registrationOf(core: SessionCore, slice: string): SliceRegistration {
  const registration = core.registrations.get(slice);
  if (registration === undefined) throw new Bug(`slice ${slice} is not registered`);
  return registration;
}
