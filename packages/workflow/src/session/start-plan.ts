import type { Hasher, JsonObject, NodeId, Result, RunId, SessionId } from '@signalbox/model';
import { type Digest, ok } from '@signalbox/model';
import { mergeContext } from '../projections/run-context.ts';
import type { DomainEvent, EventFacts } from './domain-event.ts';
import { preferencesChangedData, runStartedData } from './event-data.ts';
import { draftOf, type Place, type SessionPlan } from './event-draft.ts';
import { type EngineState, encodeSnapshot } from './execution-snapshot.ts';
import { type AttemptId, type ChangeId, type ContextId, guidedId } from './ids.ts';
import { checkContext, checkInput, type InvalidInput } from './invalid-input.ts';
import { newObservations, type Observed } from './observation-plan.ts';
import { applyChanges, defaultPreferences, type PreferenceChange, type Preferences } from './preferences.ts';

export interface Start {
  readonly sessionId: SessionId;
  /** Identifies this start: planning it again gives the same run. */
  readonly attemptId: AttemptId;
  readonly workflow: {
    readonly workflowId: string;
    readonly workflowHash: Digest;
    readonly workflowSourceKind: 'bundled' | 'user' | 'project' | 'remote' | 'plugin';
    readonly workflowSourceRef: string;
  };
  /** The interpreter's state before the first step. */
  readonly state: EngineState;
  readonly context?: JsonObject | undefined;
  readonly observations?: readonly Observed[] | undefined;
  /** The person's preferences, which override the defaults. */
  readonly preferences?: { readonly baseline?: Preferences; readonly delta: readonly PreferenceChange[] } | undefined;
}

export interface StartPlan extends SessionPlan, Place {
  readonly snapshotRef: Digest;
}

/** A new run, and its session if the history has none yet. */
export function planStart(
  hasher: Hasher,
  history: readonly DomainEvent[],
  start: Start,
): Result<StartPlan, InvalidInput> {
  const { sessionId, attemptId, workflow, state } = start;
  const runId = guidedId<RunId>('run', sessionId, attemptId);
  const nodeId = guidedId<NodeId>('root', sessionId, runId);
  const context = checkContext(start.context ?? {});
  if (!context.ok) return context;
  const pinned = checkInput(runStartedData, workflow, 'workflow');
  if (!pinned.ok) return pinned;
  const observed = newObservations(sessionId, history, start.observations ?? []);
  if (!observed.ok) return observed;

  const snapshot = encodeSnapshot(hasher, workflow.workflowHash, state);
  const facts: EventFacts[] = [];
  if (history.every(event => event.kind !== 'session_created')) {
    facts.push({ sessionId, kind: 'session_created', data: {} });
  }
  facts.push(...observed.value);
  facts.push({ sessionId, kind: 'run_started', scope: { runId }, data: pinned.value });
  if (start.context !== undefined) {
    facts.push({
      sessionId,
      kind: 'context_set',
      scope: { runId },
      data: {
        contextId: guidedId<ContextId>('context', sessionId, runId, attemptId),
        context: mergeContext({}, context.value),
        source: 'initial',
      },
    });
  }
  facts.push({
    sessionId,
    kind: 'node_created',
    scope: { runId, nodeId },
    data: { nodeKind: 'step', parentNodeId: null, workflowHash: workflow.workflowHash, snapshotRef: snapshot.ref },
  });
  if (start.preferences !== undefined) {
    const { baseline = defaultPreferences, delta } = start.preferences;
    const changeId = guidedId<ChangeId>('change', sessionId, nodeId, attemptId);
    const change = { changeId, source: 'user', delta, effective: applyChanges(baseline, delta) };
    const data = checkInput(preferencesChangedData, change, 'preferences');
    if (!data.ok) return data;
    facts.push({ sessionId, kind: 'preferences_changed', scope: { runId, nodeId }, data: data.value });
  }
  return ok({
    sessionId,
    runId,
    nodeId,
    snapshotRef: snapshot.ref,
    snapshots: [snapshot.text],
    plan: { events: facts.map(draftOf) },
  });
}
