import { type Digest, type GuidedRunStatus, type NodeId, type RunId, truncateUtf8 } from '@signalbox/model';
import type { DomainEvent } from '../session/domain-event.ts';
import type { NodeKind } from '../session/event-data.ts';
import { defaultPreferences, type Preferences } from '../session/preferences.ts';
import { type PreferenceBaselines, preferencesAt, projectPreferences } from './effective-preferences.ts';
import { type Gap, isUnresolved, projectGaps } from './gaps.ts';
import { type NodeOutputs, projectNodeOutputs } from './node-outputs.ts';
import { lineage, projectRunDags, type RunDag } from './run-dag.ts';
import { type EngineStateOf, projectRunStatus } from './run-status.ts';
import { type SessionHealth, sessionGate } from './session-gate.ts';
import { latestRecap } from './walked-way.ts';

/** Limits of a view. Omitted items are counted. */
export const viewBudgets = { runs: 50, nodes: 500, gaps: 100, recapBytes: 2048 } as const;

/** A session for people: small whatever its length, and marked if it is a salvaged prefix. */
export interface SessionView {
  readonly health: SessionHealth;
  readonly isSalvaged: boolean;
  readonly events: number;
  readonly runs: readonly RunView[];
  readonly omittedRuns: number;
}

export interface RunView {
  readonly runId: RunId;
  readonly workflow: RunDag['workflow'];
  readonly status: GuidedRunStatus;
  readonly preferences: Preferences;
  readonly preferredTip: NodeId | undefined;
  readonly lastActivity: number;
  /** The newest nodes, in creation order. */
  readonly nodes: readonly NodeView[];
  readonly omittedNodes: number;
  readonly unresolvedGaps: readonly Gap[];
  readonly omittedGaps: number;
  readonly recap: string | undefined;
}

export interface NodeView {
  readonly nodeId: NodeId;
  readonly nodeKind: NodeKind;
  readonly parentNodeId: NodeId | null;
  readonly snapshotRef: Digest;
  readonly isLeaf: boolean;
  readonly isOnPreferredPath: boolean;
}

export interface ViewOptions {
  readonly health: SessionHealth;
  readonly engineStateOf: EngineStateOf;
  readonly baselines?: PreferenceBaselines | undefined;
}

export function projectSession(events: readonly DomainEvent[], options: ViewOptions): SessionView {
  const dags = [...projectRunDags(events).values()].toSorted((left, right) => lastActivity(right) - lastActivity(left));
  const facts = {
    gaps: projectGaps(events),
    outputs: projectNodeOutputs(events),
    preferences: projectPreferences(events),
  };
  return {
    health: options.health,
    isSalvaged: sessionGate(options.health).isSalvaged,
    events: events.length,
    runs: dags.slice(0, viewBudgets.runs).map(dag => runView(dag, facts, options)),
    omittedRuns: Math.max(0, dags.length - viewBudgets.runs),
  };
}

function runView(
  dag: RunDag,
  facts: {
    readonly gaps: readonly Gap[];
    readonly outputs: ReadonlyMap<NodeId, NodeOutputs>;
    readonly preferences: ReadonlyMap<NodeId, Preferences>;
  },
  { engineStateOf, baselines = {} }: ViewOptions,
): RunView {
  const tip = dag.preferredTip?.nodeId;
  const preferences =
    tip === undefined
      ? (baselines.session ?? baselines.global ?? defaultPreferences)
      : preferencesAt(facts.preferences, dag, tip, baselines);
  const unresolved = facts.gaps.filter(gap => gap.runId === dag.runId && isUnresolved(gap));
  const path = new Set(tip === undefined ? [] : lineage(dag, tip).map(node => node.nodeId));
  const recap = latestRecap(dag, facts.outputs);
  return {
    runId: dag.runId,
    workflow: dag.workflow,
    status: projectRunStatus(dag, facts.gaps, preferences, engineStateOf),
    preferences,
    preferredTip: tip,
    lastActivity: lastActivity(dag),
    nodes: [...dag.nodes.values()].slice(-viewBudgets.nodes).map(node => ({
      nodeId: node.nodeId,
      nodeKind: node.nodeKind,
      parentNodeId: node.parentNodeId,
      snapshotRef: node.snapshotRef,
      isLeaf: node.children.length === 0,
      isOnPreferredPath: path.has(node.nodeId),
    })),
    omittedNodes: Math.max(0, dag.nodes.size - viewBudgets.nodes),
    unresolvedGaps: unresolved.slice(-viewBudgets.gaps),
    omittedGaps: Math.max(0, unresolved.length - viewBudgets.gaps),
    recap: recap === undefined ? undefined : truncateUtf8(recap, viewBudgets.recapBytes),
  };
}

function lastActivity(dag: RunDag): number {
  return dag.preferredTip?.lastActivity ?? -1;
}
