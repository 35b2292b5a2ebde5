import type { NodeId } from '@signalbox/model';
import type { DomainEvent } from '../session/domain-event.ts';
import { defaultPreferences, type Preferences } from '../session/preferences.ts';
import { lineage, type RunDag } from './run-dag.ts';

/** The preferences that the last change at each node left. */
export type PreferenceHistory = ReadonlyMap<NodeId, Preferences>;

export interface PreferenceBaselines {
  readonly session?: Preferences | undefined;
  readonly global?: Preferences | undefined;
}

export function projectPreferences(events: readonly DomainEvent[]): PreferenceHistory {
  const history = new Map<NodeId, Preferences>();
  for (const event of events) {
    if (event.kind === 'preferences_changed') history.set(event.scope.nodeId, event.data.effective);
  }
  return history;
}

/** What holds at a node: what was said there or on the way to it, then the session's, then everybody's. */
export function preferencesAt(
  history: PreferenceHistory,
  dag: RunDag,
  nodeId: NodeId,
  { session, global }: PreferenceBaselines = {},
): Preferences {
  for (const node of lineage(dag, nodeId)) {
    const said = history.get(node.nodeId);
    if (said !== undefined) return said;
  }
  return session ?? global ?? defaultPreferences;
}
