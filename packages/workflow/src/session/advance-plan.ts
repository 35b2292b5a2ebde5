/**
 * The record of one attempt to advance.
 *
 * A1  Every id derives from the session, the place and the attempt: planning the same attempt again gives the same plan, and
 *     another attempt from the same place is another branch.
 * A2  The outcome comes first; outputs follow, notes before artifacts, then corrections of earlier ones; the new node, the questions that it opens and
 *     its edge close the plan.
 * A3  Advancing settles what blocked earlier attempts from here, except gaps that this one discloses again and questions to a
 *     person: only the person's answer settles those.
 */
import {
  type Digest,
  type Hasher,
  type JsonObject,
  type NodeId,
  ok,
  type Result,
  truncateUtf8,
} from '@signalbox/model';
import type * as z from 'zod';
import { projectGaps } from '../projections/gaps.ts';
import { mergeContext, projectRunContexts } from '../projections/run-context.ts';
import { projectRunDags } from '../projections/run-dag.ts';
import { type Blocker, blockerReport, type LoopLimit, sortBlockers } from './blockers.ts';
import { budgets } from './bounded-text.ts';
import { boundTrace } from './decision-trace.ts';
import { type DomainEvent, dedupeKeyOf, type EventFacts, type EventOf } from './domain-event.ts';
import { capabilityObservedData, divergenceRecordedData, gapRecordedData, type TraceEntry } from './event-data.ts';
import { draftOf, eventIdOf, type Place, type SessionPlan } from './event-draft.ts';
import { type EngineState, encodeSnapshot } from './execution-snapshot.ts';
import {
  type AttemptId,
  type CapObsId,
  type ContextId,
  type DivergenceId,
  type GapId,
  type GuidedId,
  guidedId,
  type TraceId,
} from './ids.ts';
import { checkContext, checkInput, type InvalidInput } from './invalid-input.ts';
import { type ArtifactRef, artifactFacts, type Correction, correctionFacts, recapFacts } from './output-facts.ts';
import { type GapReason, reasonCodeOf } from './reasons.ts';

export interface Attempt {
  readonly attemptId: AttemptId;
  readonly outcome:
    | { readonly kind: 'advanced'; readonly state: EngineState }
    | { readonly kind: 'blocked'; readonly blockers: readonly Blocker[] };
  /** What was done in this step only. Cut to its budget. */
  readonly notesMarkdown?: string | undefined;
  readonly artifacts?: readonly ArtifactRef[] | undefined;
  /** Corrections of earlier output on the way here. */
  readonly corrections?: readonly Correction[] | undefined;
  /** Changes the run's context: `null` deletes a key. */
  readonly contextDelta?: JsonObject | undefined;
  readonly gaps?: readonly DisclosedGap[] | undefined;
  /** Questions to the person at the new place. */
  readonly opens?: readonly DisclosedGap[] | undefined;
  readonly capabilities?: readonly Omit<z.infer<typeof capabilityObservedData>, 'capObsId'>[] | undefined;
  readonly divergences?: readonly Omit<z.infer<typeof divergenceRecordedData>, 'divergenceId'>[] | undefined;
  readonly trace?: readonly TraceEntry[] | undefined;
}

interface DisclosedGap {
  readonly reason: GapReason;
  readonly summary: string;
  readonly severity?: 'info' | 'warning' | 'critical' | undefined;
  readonly details?: LoopLimit | undefined;
}

export interface AdvancePlan extends SessionPlan {
  /** The new place; undefined if the attempt was blocked. */
  readonly toNodeId: NodeId | undefined;
}

/** `from` is the attempt's node, `history` the whole history of its session. */
export function planAdvance(
  hasher: Hasher,
  history: readonly DomainEvent[],
  from: EventOf<'node_created'>,
  made: Attempt,
): Result<AdvancePlan, InvalidInput> {
  const place: Place = { sessionId: from.sessionId, ...from.scope };
  const attempt: PlacedAttempt = { ...made, place };
  const { attemptId, outcome } = attempt;
  const { sessionId, runId, nodeId } = place;
  const scope = { runId, nodeId };
  const idOf = <Id extends GuidedId>(kind: string, ...parts: readonly number[]) =>
    guidedId<Id>(kind, sessionId, nodeId, attemptId, ...parts);

  const toNodeId = outcome.kind === 'advanced' ? idOf<NodeId>('node') : undefined;
  const recorded = advanceFact(attempt, toNodeId);
  if (!recorded.ok) return recorded;
  const recap = recapFacts(place, attemptId, attempt.notesMarkdown);
  if (!recap.ok) return recap;
  const artifacts = artifactFacts(place, attemptId, attempt.artifacts ?? []);
  if (!artifacts.ok) return artifacts;
  const corrected = correctionFacts(place, attemptId, attempt.corrections ?? []);
  if (!corrected.ok) return corrected;
  const disclosed = gapFacts(history, attempt, recorded.value);
  if (!disclosed.ok) return disclosed;
  const outputs = [...recap.value, ...artifacts.value, ...corrected.value];
  const facts: EventFacts[] = [recorded.value, ...outputs, ...disclosed.value];
  if (outcome.kind === 'advanced') facts.push(...settledGaps(history, attempt));

  for (const [ordinal, observed] of (attempt.capabilities ?? []).entries()) {
    const data = checkInput(
      capabilityObservedData,
      { ...observed, capObsId: idOf<CapObsId>('capability', ordinal) },
      'capability',
    );
    if (!data.ok) return data;
    facts.push({ sessionId, kind: 'capability_observed', scope, data: data.value });
  }
  for (const [ordinal, diverged] of (attempt.divergences ?? []).entries()) {
    const data = checkInput(
      divergenceRecordedData,
      { ...diverged, divergenceId: idOf<DivergenceId>('divergence', ordinal) },
      'divergence',
    );
    if (!data.ok) return data;
    facts.push({ sessionId, kind: 'divergence_recorded', scope, data: data.value });
  }
  const context = contextFact(history, attempt);
  if (!context.ok) return context;
  facts.push(...context.value);

  const isFork = hasAdvanced(history, place);
  const trace = [...(isFork && outcome.kind === 'advanced' ? [FORKED] : []), ...(attempt.trace ?? [])];
  if (trace.length > 0) {
    const data = boundTrace(idOf<TraceId>('trace'), trace);
    facts.push({ sessionId, kind: 'decision_trace_appended', scope, data });
  }
  if (outcome.kind === 'blocked' || toNodeId === undefined) {
    return ok({ toNodeId: undefined, snapshots: [], plan: { events: facts.map(draftOf) } });
  }

  const { workflowHash } = from.data;
  const snapshot = encodeSnapshot(hasher, workflowHash, outcome.state);
  facts.push(nodeFact(place, toNodeId, workflowHash, snapshot.ref));
  const opened = gapFacts(
    history,
    { ...attempt, place: { ...place, nodeId: toNodeId }, gaps: attempt.opens },
    recorded.value,
  );
  if (!opened.ok) return opened;
  facts.push(...opened.value);
  facts.push({
    sessionId,
    kind: 'edge_created',
    scope: { runId },
    data: {
      edgeKind: 'acked_step',
      fromNodeId: nodeId,
      toNodeId,
      cause: {
        kind: isFork ? 'non_tip_advance' : 'intentional_fork',
        eventId: eventIdOf(sessionId, dedupeKeyOf(recorded.value)),
      },
    },
  });
  const states = new Map([[snapshot.ref, snapshot.file.enginePayload.engineState]]);
  return ok({ toNodeId, snapshots: [snapshot.text], states, plan: { events: facts.map(draftOf) } });
}

/** The record that resolves a gap has a fixed id, so that a gap is resolved only once. */
export function resolutionIdOf(place: Pick<Place, 'sessionId'>, gapId: GapId): GapId {
  return guidedId<GapId>('gap-resolution', place.sessionId, gapId);
}

interface PlacedAttempt extends Attempt {
  readonly place: Place;
}

const FORKED: TraceEntry = {
  kind: 'detected_non_tip_advance',
  summary: 'The place had been left before; this advance begins another branch from it.',
};

function advanceFact(
  { place, attemptId, outcome }: PlacedAttempt,
  toNodeId: NodeId | undefined,
): Result<Extract<EventFacts, { kind: 'advance_recorded' }>, InvalidInput> {
  const { sessionId, runId, nodeId } = place;
  const fact = (recorded: EventOf<'advance_recorded'>['data']['outcome']) =>
    ok({
      sessionId,
      kind: 'advance_recorded' as const,
      scope: { runId, nodeId },
      data: { attemptId, intent: 'ack_pending' as const, outcome: recorded },
    });
  if (toNodeId !== undefined) return fact({ kind: 'advanced', toNodeId });
  const blockers = outcome.kind === 'blocked' ? sortBlockers(outcome.blockers) : [];
  const report = checkInput(blockerReport, { blockers }, 'blockers');
  return report.ok ? fact({ kind: 'blocked', blockers: report.value }) : report;
}

/** What this attempt lacked. A gap that is already open at the place is not disclosed twice. */
function gapFacts(
  history: readonly DomainEvent[],
  { place, attemptId, gaps = [] }: PlacedAttempt,
  evidence: EventFacts,
): Result<readonly EventFacts[], InvalidInput> {
  const { sessionId, runId, nodeId } = place;
  const open = new Set(openGaps(history, nodeId).map(gap => `${reasonCodeOf(gap.reason)}\0${gap.summary}`));
  const facts: EventFacts[] = [];
  for (const [ordinal, { reason, summary, severity = 'critical', details }] of gaps.entries()) {
    const text = truncateUtf8(summary, budgets.summary);
    const data = checkInput(
      gapRecordedData,
      {
        gapId: guidedId<GapId>('gap', sessionId, nodeId, attemptId, ordinal),
        severity,
        reason,
        summary: text,
        resolution: { kind: 'unresolved' },
        evidenceRefs: [{ kind: 'event', eventId: eventIdOf(sessionId, dedupeKeyOf(evidence)) }],
        ...(details && { details }),
      },
      'gap',
    );
    if (!data.ok) return data;
    if (open.has(`${reasonCodeOf(reason)}\0${text}`)) continue;
    facts.push({ sessionId, kind: 'gap_recorded', scope: { runId, nodeId }, data: data.value });
  }
  return ok(facts);
}

function settledGaps(history: readonly DomainEvent[], { place, gaps = [] }: PlacedAttempt): readonly EventFacts[] {
  const { sessionId, runId, nodeId } = place;
  const open = openGaps(history, nodeId);
  if (open.length === 0) return [];
  const again = new Set(gaps.map(gap => reasonCodeOf(gap.reason)));
  const blocked = new Set<string>(
    history.flatMap(event =>
      event.kind === 'advance_recorded' && event.scope.nodeId === nodeId && event.data.outcome.kind === 'blocked'
        ? [event.eventId]
        : [],
    ),
  );
  return open
    .filter(gap => gap.reason.category !== 'user_only_dependency')
    .filter(gap => gap.evidence.some(eventId => blocked.has(eventId)) && !again.has(reasonCodeOf(gap.reason)))
    .map(gap => ({
      sessionId,
      kind: 'gap_recorded',
      scope: { runId, nodeId },
      data: {
        gapId: resolutionIdOf(place, gap.gapId),
        severity: 'info',
        reason: gap.reason,
        summary: 'A later attempt from the same place had what was missing.',
        resolution: { kind: 'resolves', resolvesGapId: gap.gapId },
      },
    }));
}

function contextFact(
  history: readonly DomainEvent[],
  { place, attemptId, contextDelta }: PlacedAttempt,
): Result<readonly EventFacts[], InvalidInput> {
  if (contextDelta === undefined) return ok([]);
  const { sessionId, runId, nodeId } = place;
  const delta = checkContext(contextDelta);
  if (!delta.ok) return delta;
  const before = projectRunContexts(history).get(runId)?.context ?? {};
  const merged = checkContext(mergeContext(before, delta.value));
  if (!merged.ok) return merged;
  const contextId = guidedId<ContextId>('context', sessionId, nodeId, attemptId);
  return ok([
    {
      sessionId,
      kind: 'context_set',
      scope: { runId },
      data: { contextId, context: merged.value, source: 'agent_delta' },
    },
  ]);
}

function nodeFact(place: Place, toNodeId: NodeId, workflowHash: Digest, snapshotRef: Digest): EventFacts {
  return {
    sessionId: place.sessionId,
    kind: 'node_created',
    scope: { runId: place.runId, nodeId: toNodeId },
    data: { nodeKind: 'step', parentNodeId: place.nodeId, workflowHash, snapshotRef },
  };
}

function openGaps(history: readonly DomainEvent[], nodeId: NodeId) {
  return projectGaps(history).filter(gap => gap.nodeId === nodeId && gap.resolvedBy === undefined);
}

/** An advance moves the walk forward; a checkpoint does not. */
function hasAdvanced(history: readonly DomainEvent[], { runId, nodeId }: Place): boolean {
  const edges = projectRunDags(history).get(runId)?.edges ?? [];
  return edges.some(edge => edge.edgeKind === 'acked_step' && edge.fromNodeId === nodeId);
}
