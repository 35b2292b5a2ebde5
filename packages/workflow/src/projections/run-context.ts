import type { JsonObject, RunId } from '@signalbox/model';
import type { ContextId } from '../session/ids.ts';
import { perHistory } from './per-history.ts';

export interface RunContext {
  readonly contextId: ContextId;
  readonly context: JsonObject;
}

/** The latest context of every run. */
export const projectRunContexts = perHistory<ReadonlyMap<RunId, RunContext>>((before = new Map(), events) => {
  const set = events.filter(event => event.kind === 'context_set');
  if (set.length === 0) return before;
  const contexts = new Map(before);
  for (const { scope, data } of set) {
    const { contextId, context } = data;
    contexts.set(scope.runId, { contextId, context });
  }
  return contexts;
});

/** Key by key: a value replaces, `null` deletes, absent keys stay. */
export function mergeContext(before: JsonObject, delta: JsonObject): JsonObject {
  const merged = new Map(Object.entries(before));
  for (const [key, value] of Object.entries(delta)) {
    if (value === undefined) continue;
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  return Object.fromEntries(merged);
}
