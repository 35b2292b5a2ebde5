import type { NodeId } from '@signalbox/model';
import { defaultPreferences, type Preferences } from '../session/preferences.ts';
import { perHistory } from './per-history.ts';
import { type RunDag, upwards } from './run-dag.ts';

/** The preferences that the last change at each node left. */
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

/** What holds at a node: what was said there or on the way to it, then the session's, then everybody's. */
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
