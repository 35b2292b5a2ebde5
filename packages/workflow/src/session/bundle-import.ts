import { type AppendPlan, type EventDraft, MAX_PLAN_BYTES, MAX_PLAN_EVENTS } from '@signalbox/journal';
import {
  canonicalJson,
  type Digest,
  type ErrorEnvelope,
  type EventId,
  err,
  ok,
  type Result,
  type SessionId,
  unreachable,
  utf8Length,
} from '@signalbox/model';
import { artifactRefsOf, type Bundle } from './bundle.ts';
import { bundleFailure } from './bundle-failure.ts';
import { type DomainEvent, dedupeKeyOf, type EventFacts } from './domain-event.ts';
import { eventIdOf } from './event-draft.ts';
import { type GuidedId, guidedId } from './ids.ts';

/** What an import stores, in this order: snapshots, workflows and artifacts by digest, then the appends. */
export interface ImportPlan {
  readonly sessionId: SessionId;
  readonly snapshots: readonly string[];
  readonly pinnedWorkflows: readonly string[];
  readonly artifacts: readonly string[];
  /** Artifacts that the bundle only names: they must exist at the destination. */
  readonly namedArtifacts: readonly Digest[];
  readonly plans: readonly AppendPlan<DomainEvent>[];
}

/**
 * A read bundle as appends to an empty session. If `sessionId` is not the bundle's own, it is imported as new: every id is
 * renamed, nothing is merged, and the journal attests the events again.
 */
export function planImport(
  bundle: Bundle,
  sessionId: SessionId,
): Result<ImportPlan, ErrorEnvelope<'BUNDLE_INTEGRITY_FAILED'>> {
  const { session, salvage } = bundle;
  if (salvage !== undefined) {
    return err(
      bundleFailure(
        'BUNDLE_INTEGRITY_FAILED',
        `it is the salvaged part of a damaged session (${salvage.reason}): it can be looked at, not gone on with`,
      ),
    );
  }
  const events = sessionId === session.sessionId ? session.events : renameSession(session.events, sessionId);
  return ok({
    sessionId,
    snapshots: Object.values(session.snapshots).map(canonicalJson),
    pinnedWorkflows: Object.values(session.pinnedWorkflows).map(canonicalJson),
    artifacts: Object.values(session.artifacts ?? {}),
    namedArtifacts: session.artifacts === undefined ? [...artifactRefsOf(session.events)] : [],
    plans: plansOf(events, segmentEnds(bundle)),
  });
}

/** The same history under another session: ids renamed throughout, references with them, keys derived again. */
export function renameSession(events: readonly DomainEvent[], sessionId: SessionId): readonly DomainEvent[] {
  const eventIds = new Map<EventId, EventId>();
  const rename = <Id extends GuidedId>(id: Id): Id => guidedId<Id>('imported', sessionId, id);
  // A cause may come after its effect, so all new event ids are determined first.
  const renamed = events.map(event => {
    const facts = renameFacts({ ...event, sessionId }, rename, id => id);
    eventIds.set(event.eventId, eventIdOf(sessionId, dedupeKeyOf(facts)));
    return facts;
  });
  return events.map((event, index) => {
    const facts = renameFacts({ ...event, sessionId }, rename, id => eventIds.get(id) ?? id);
    const dedupeKey = dedupeKeyOf(renamed[index] ?? facts);
    return {
      ...facts,
      v: 1,
      eventIndex: event.eventIndex,
      eventId: eventIdOf(sessionId, dedupeKey),
      dedupeKey,
    } as DomainEvent;
  });
}

type Rename = <Id extends GuidedId>(id: Id) => Id;

function renameFacts(event: DomainEvent, rename: Rename, eventOf: (id: EventId) => EventId): EventFacts {
  const { sessionId } = event;
  switch (event.kind) {
    case 'session_created':
      return { sessionId, kind: event.kind, data: event.data };
    case 'observation_recorded':
      return {
        sessionId,
        kind: event.kind,
        ...(event.scope && { scope: nodeScope(event.scope, rename) }),
        data: event.data,
      };
    case 'run_started':
      return { sessionId, kind: event.kind, scope: { runId: rename(event.scope.runId) }, data: event.data };
    case 'context_set': {
      const data = { ...event.data, contextId: rename(event.data.contextId) };
      return { sessionId, kind: event.kind, scope: { runId: rename(event.scope.runId) }, data };
    }
    case 'node_created': {
      const { parentNodeId } = event.data;
      const data = { ...event.data, parentNodeId: parentNodeId === null ? null : rename(parentNodeId) };
      return { sessionId, kind: event.kind, scope: nodeScope(event.scope, rename), data };
    }
    case 'edge_created': {
      const { fromNodeId, toNodeId, cause } = event.data;
      const ends = { fromNodeId: rename(fromNodeId), toNodeId: rename(toNodeId) };
      const renamed = { ...cause, eventId: eventOf(cause.eventId) };
      const data = { ...event.data, ...ends, cause: renamed } as typeof event.data;
      return { sessionId, kind: event.kind, scope: { runId: rename(event.scope.runId) }, data };
    }
    case 'advance_recorded': {
      const { attemptId, outcome } = event.data;
      const data = {
        ...event.data,
        attemptId: rename(attemptId),
        outcome: outcome.kind === 'advanced' ? { ...outcome, toNodeId: rename(outcome.toNodeId) } : outcome,
      };
      return { sessionId, kind: event.kind, scope: nodeScope(event.scope, rename), data };
    }
    case 'node_output_appended': {
      const { outputId, supersedesOutputId } = event.data;
      const data = {
        ...event.data,
        outputId: rename(outputId),
        ...(supersedesOutputId && { supersedesOutputId: rename(supersedesOutputId) }),
      };
      return { sessionId, kind: event.kind, scope: nodeScope(event.scope, rename), data };
    }
    case 'preferences_changed': {
      const data = { ...event.data, changeId: rename(event.data.changeId) };
      return { sessionId, kind: event.kind, scope: nodeScope(event.scope, rename), data };
    }
    case 'capability_observed': {
      const data = { ...event.data, capObsId: rename(event.data.capObsId) };
      return { sessionId, kind: event.kind, scope: nodeScope(event.scope, rename), data };
    }
    case 'gap_recorded': {
      const { gapId, resolution, evidenceRefs } = event.data;
      const data = {
        ...event.data,
        gapId: rename(gapId),
        resolution:
          resolution.kind === 'resolves'
            ? { ...resolution, resolvesGapId: rename(resolution.resolvesGapId) }
            : resolution,
        ...(evidenceRefs && {
          evidenceRefs: evidenceRefs.map(ref =>
            ref.kind === 'event'
              ? { ...ref, eventId: eventOf(ref.eventId) }
              : { ...ref, outputId: rename(ref.outputId) },
          ),
        }),
      };
      return { sessionId, kind: event.kind, scope: nodeScope(event.scope, rename), data };
    }
    case 'divergence_recorded': {
      const data = { ...event.data, divergenceId: rename(event.data.divergenceId) };
      return { sessionId, kind: event.kind, scope: nodeScope(event.scope, rename), data };
    }
    case 'decision_trace_appended': {
      const data = { ...event.data, traceId: rename(event.data.traceId) };
      return { sessionId, kind: event.kind, scope: nodeScope(event.scope, rename), data };
    }
    default:
      return unreachable(event);
  }
}

function nodeScope<S extends { readonly runId: GuidedId; readonly nodeId: GuidedId }>(scope: S, rename: Rename): S {
  return { ...scope, runId: rename(scope.runId), nodeId: rename(scope.nodeId) };
}

/** The ends of the exported session's appends. They stay whole, several in one append if they fit. */
function segmentEnds({ session }: Bundle): readonly number[] {
  return session.manifest.flatMap(record => (record.kind === 'segment_closed' ? [record.lastEventIndex + 1] : []));
}

function plansOf(events: readonly DomainEvent[], ends: readonly number[]): readonly AppendPlan<DomainEvent>[] {
  const plans: { readonly events: EventDraft<DomainEvent>[]; bytes: number }[] = [];
  let start = 0;
  for (const end of ends) {
    const segment = events.slice(start, end);
    start = end;
    const bytes = segment.reduce((sum, event) => sum + utf8Length(canonicalJson(event)) + 1, 0);
    const last = plans.at(-1);
    const drafts = segment.map(
      ({ v: _v, eventIndex: _index, sessionId: _session, ...draft }) => draft as EventDraft<DomainEvent>,
    );
    if (
      last !== undefined &&
      last.events.length + drafts.length <= MAX_PLAN_EVENTS &&
      last.bytes + bytes <= MAX_PLAN_BYTES
    ) {
      last.events.push(...drafts);
      last.bytes += bytes;
    } else {
      plans.push({ events: drafts, bytes });
    }
  }
  return plans.map(plan => ({ events: plan.events }));
}
