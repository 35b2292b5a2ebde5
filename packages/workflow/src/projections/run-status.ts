import type { Digest, GuidedRunStatus } from '@signalbox/model';
import type { EngineState } from '../session/execution-snapshot.ts';
import type { Preferences } from '../session/preferences.ts';
import { isBlockingCategory } from '../session/reasons.ts';
import { type Gap, isUnresolved } from './gaps.ts';
import type { RunDag } from './run-dag.ts';

/** The state in a snapshot; undefined if it is not available. */
export type EngineStateOf = (snapshotRef: Digest) => EngineState | undefined;

/** A run's status at its preferred tip. `gaps` are the session's, `preferences` those in effect at the tip. */
export function projectRunStatus(
  dag: RunDag,
  gaps: readonly Gap[],
  preferences: Preferences,
  engineStateOf: EngineStateOf,
): GuidedRunStatus {
  const tip = dag.preferredTip === undefined ? undefined : dag.nodes.get(dag.preferredTip.nodeId);
  const critical = gaps.filter(gap => gap.runId === dag.runId && gap.severity === 'critical' && isUnresolved(gap));
  if (tip !== undefined && engineStateOf(tip.snapshotRef)?.kind === 'complete') {
    return critical.length > 0 ? 'complete_with_gaps' : 'complete';
  }
  const stops = critical.some(gap => gap.nodeId === tip?.nodeId && isBlockingCategory(gap.reason.category));
  return stops && preferences.autonomy !== 'full_auto_never_stop' ? 'blocked' : 'in_progress';
}
