import type { JsonObject, RunId } from '@signalbox/model';
import type { DomainEvent } from '../session/domain-event.ts';
import type { ContextId } from '../session/ids.ts';

export interface RunContext {
  readonly contextId: ContextId;
  readonly context: JsonObject;
}

/** The context of every run as it was last set. */
export function projectRunContexts(events: readonly DomainEvent[]): ReadonlyMap<RunId, RunContext> {
  const contexts = new Map<RunId, RunContext>();
  for (const event of events) {
    if (event.kind === 'context_set') {
      const { contextId, context } = event.data;
      contexts.set(event.scope.runId, { contextId, context });
    }
  }
  return contexts;
}

/** Key by key: a value replaces, `null` deletes, what is absent stays. */
export function mergeContext(before: JsonObject, delta: JsonObject): JsonObject {
  const merged = new Map(Object.entries(before));
  for (const [key, value] of Object.entries(delta)) {
    if (value === undefined) continue;
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  return Object.fromEntries(merged);
}
