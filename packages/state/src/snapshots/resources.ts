import { Bug } from '@signalbox/model';
import { isSnapshotable, type Snapshotable } from './snapshotable.ts';

/** Names a resource and its type. Snapshots refer to it by name. */
export interface ResourceKey<T> {
  readonly name: string;
  /** Never set: it only carries the type. */
  readonly type?: (value: T) => T;
}

/** The resources of an execution state, by key. The set is fixed. */
export interface Resources {
  get<T>(key: ResourceKey<T>): T | undefined;
  get<T>(key: ResourceKey<T>, fallback: T): T;
  /** Resources that take part in snapshots, by name, in registration order. */
  snapshotable(): ReadonlyMap<string, Snapshotable<unknown>>;
}

export interface ResourceEntry {
  readonly name: string;
  readonly value: unknown;
}

export function defineResource<T>(name: string): ResourceKey<T> {
  return { name };
}

export function resource<T>(key: ResourceKey<T>, value: T): ResourceEntry {
  return { name: key.name, value };
}

export function createResources(entries: readonly ResourceEntry[]): Resources {
  const values = new Map<string, unknown>();
  for (const { name, value } of entries) {
    if (values.has(name)) throw new Bug(`two resources are named ${name}`);
    values.set(name, value);
  }
  const captured = new Map<string, Snapshotable<unknown>>();
  for (const [name, value] of values) if (isSnapshotable(value)) captured.set(name, value);
  return {
    // A value is stored under a key of its own type, so it is returned as that type.
    get: <T>(key: ResourceKey<T>, fallback?: T) => (values.has(key.name) ? (values.get(key.name) as T) : fallback) as T,
    snapshotable: () => captured,
  };
}
