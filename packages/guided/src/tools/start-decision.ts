import { isDeepStrictEqual } from 'node:util';
import { nodeHasher } from '@signalbox/journal';
import { canonicalJson, defined, type ErrorEnvelope, err, ok, type Result, type SessionId } from '@signalbox/model';
import {
  type AttemptId,
  boundTrace,
  budgets,
  checkContext,
  defaultPreferences,
  draftOf,
  type EventFacts,
  type FoundWorkflow,
  type GapId,
  guidedId,
  interpret,
  type Next,
  type Observed,
  type Place,
  type Preferences,
  planStart,
  questionOnArrival,
  recommendationWarnings,
  type SessionPlan,
  type TraceId,
  traceWithWarnings,
} from '@signalbox/workflow';
import { faultOf, invalidCall } from '../sessions/guided-failures.ts';
import type { SessionWrite } from '../sessions/session-files.ts';
import { changesOf } from './advance-decision.ts';
import type { StartInput } from './tool-inputs.ts';

/** The session and the attempt of a start: with a key of the caller, always the same ones. */
export interface StartName {
  readonly sessionId: SessionId;
  readonly attemptId: AttemptId;
}

export function startNameOf(startKey: string | undefined, mint: () => SessionId): StartName {
  const sessionId = startKey === undefined ? mint() : guidedId<SessionId>('session', startKey);
  return { sessionId, attemptId: guidedId<AttemptId>('start', sessionId) };
}

/** A new session with a run of a workflow, pinned to its current version, at its first step. Writes nothing. */
export function decideStart(
  { sessionId, attemptId }: StartName,
  found: FoundWorkflow,
  input: StartInput,
  observations: readonly Observed[],
  baseline: Preferences,
): Result<SessionWrite & { readonly place: Place }, ErrorEnvelope> {
  const { snapshot, workflowHash } = found.compiled;
  const context = checkContext(input.context ?? {});
  if (!context.ok) return context;
  const autonomy = input.preferences?.autonomy ?? baseline.autonomy;
  const first = interpret(
    snapshot,
    { kind: 'init' },
    { kind: 'started' },
    { context: context.value, outputs: [], autonomy },
  );
  if (!first.ok) return err(faultOf(sessionId, first.error));
  if (first.value.kind === 'blocked') return err(cannotBegin(snapshot.workflowId, first.value));

  // Non-standard preferences are recorded, because another process may have other defaults.
  const isDefault = isDeepStrictEqual(baseline, defaultPreferences) && changesOf(input.preferences).length === 0;
  const delta = isDefault ? [] : changesOf({ riskPolicy: baseline.riskPolicy, ...input.preferences, autonomy });
  const planned = planStart(nodeHasher, [], {
    sessionId,
    attemptId,
    workflow: {
      workflowId: snapshot.workflowId,
      workflowHash,
      workflowSourceKind: found.listing.sourceKind,
      workflowSourceRef: found.listing.sourceRef,
    },
    state: first.value.state,
    ...(input.context !== undefined && { context: context.value }),
    observations,
    ...(delta.length > 0 && { preferences: { baseline, delta } }),
  });
  if (!planned.ok) return planned;
  const { runId, nodeId, snapshots, plan } = planned.value;
  const place = { sessionId, runId, nodeId };
  const warnings = recommendationWarnings(snapshot, { ...baseline, ...defined(input.preferences ?? {}) });
  const trace = traceWithWarnings(warnings, first.value.trace);
  const opens = questionOnArrival(snapshot, first.value.state, context.value, autonomy);
  const gaps = [...first.value.gaps, ...opens];
  const events = [...plan.events, ...beside(place, attemptId, { ...first.value, gaps, trace })];
  return ok({ place, planned: { snapshots, plan: { events } }, workflows: [canonicalJson(snapshot)] });
}

/** The gaps disclosed at the first choice, and last the reason for it. */
function beside(
  { sessionId, runId, nodeId }: Place,
  attemptId: AttemptId,
  { gaps, trace }: Exclude<Next, { kind: 'blocked' }>,
): SessionPlan['plan']['events'] {
  const scope = { runId, nodeId };
  const disclosed = gaps.map(
    ({ severity, reason, summary, details }, ordinal): EventFacts => ({
      sessionId,
      kind: 'gap_recorded',
      scope,
      data: {
        gapId: guidedId<GapId>('gap', sessionId, nodeId, attemptId, ordinal),
        severity,
        reason,
        summary,
        resolution: { kind: 'unresolved' },
        ...(details && { details }),
      },
    }),
  );
  // The last entries say where the choice led.
  const data = boundTrace(guidedId<TraceId>('trace', sessionId, nodeId, attemptId), trace.slice(-budgets.traceEntries));
  const traced: EventFacts = { sessionId, kind: 'decision_trace_appended', scope, data };
  return [...disclosed, traced].map(draftOf);
}

function cannotBegin(workflowId: string, { report }: Extract<Next, { kind: 'blocked' }>) {
  const [first] = report.blockers;
  return invalidCall(
    `${workflowId} cannot begin: ${report.blockers.map(({ message }) => message).join(' ')}`,
    first?.suggestedFix ?? 'Start it with the context that it needs.',
    { workflowId, blockers: report.blockers.map(({ code, pointer }) => ({ code, pointer: { ...pointer } })) },
  );
}
