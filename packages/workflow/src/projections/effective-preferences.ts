import type { NodeId } from '@signalbox/model';
import { defaultPreferences, type Preferences } from '../session/preferences.ts';
import { perHistory } from './per-history.ts';
import { type RunDag, upwards } from './run-dag.ts';

/** The preferences after the last change at each node. */
export type PreferenceHistory = ReadonlyMap<NodeId, Preferences>;

export interface PreferenceBaselines {
  readonly session?: Preferences | undefined;
  readonly global?: Preferences | undefined;
}

export const projectPreferences = perHistory<PreferenceHistory>((before = new Map(), events) => {
  const changes = events.filter(event => event.kind === 'preferences_changed');
  if (changes.length === 0) return before;
  return new Map([...before, ...changes.map(({ scope, data }) => [scope.nodeId, data.effective] as const)]);
});

/** The preferences at a node: set there or earlier on its path, then the session's, then the global ones. */
export function preferencesAt(
  history: PreferenceHistory,
  dag: RunDag,
  nodeId: NodeId,
  { session, global }: PreferenceBaselines = {},
): Preferences {
  for (const node of history.size === 0 ? [] : upwards(dag, nodeId)) {
    const said = history.get(node.nodeId);
    if (said !== undefined) return said;
  }
  return session ?? global ?? defaultPreferences;
}
