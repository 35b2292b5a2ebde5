import {
  type ApprovalId,
  artifactRefOf,
  type Digest,
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type Resolution,
  type Result,
  type RunEvent,
  type RunId,
  type RunSnapshot,
  type RunSummary,
  utf8Bytes,
  type WireArtifact,
  type WireDecision,
} from '@signalbox/model';
import { type DomainEvent, derivePendingStep, projectRunDags, type RunDag } from '@signalbox/workflow';
import type { GuidedPorts } from '../ports.ts';
import { eventTimes } from '../sessions/event-times.ts';
import { unknownSession } from '../sessions/find-session.ts';
import type { GuidedDesk } from '../sessions/guided-desk.ts';
import type { SessionReader } from '../sessions/session-files.ts';
import type { SessionIndex } from '../sessions/session-index.ts';
import type { SessionStores } from '../sessions/session-stores.ts';
import type { HandedIn, RunSummary as IndexedRun, PersonGap, SessionSummary } from '../sessions/session-summary.ts';
import { eventsOfRun } from './events-of-run.ts';
import { decisionOfGap, gapAnswerOf } from './guided-decision.ts';
import { guidedSnapshot, guidedSummary } from './guided-run.ts';
import { createRunList } from './list-guided-runs.ts';

/** An event of a guided run: in the contract's form, in the journal's form, and the head of the journal after it. */
export interface GuidedEvent {
  readonly contract: RunEvent;
  readonly stored: DomainEvent;
  readonly hash: Digest;
}

/** The runs of guided sessions in the form of any run (R20). The journals are the truth; nothing is stored here. */
export interface GuidedRuns {
  /** Newest first. An unchanged run is the same object. */
  list(): Result<readonly RunSummary[], ErrorEnvelope>;
  /** Undefined if no session has the run. */
  find(run: RunId): Result<RunSummary | undefined, ErrorEnvelope>;
  show(run: RunId): Result<RunSnapshot | undefined, ErrorEnvelope>;
  /** In order, starting at `from`. */
  events(run: RunId, from: number, limit: number): Result<readonly GuidedEvent[], ErrorEnvelope>;
  /** Artifacts handed in besides notes, newest first; of one run, or of all. */
  artifacts(run?: RunId): Result<readonly WireArtifact[], ErrorEnvelope>;
  /** The content of an artifact. */
  content(artifact: WireArtifact): Result<Uint8Array, ErrorEnvelope>;
  /** Open and resolved questions to the person in all runs, oldest first. */
  decisions(): Result<readonly WireDecision[], ErrorEnvelope>;
  /** Undefined if no session has the gap. */
  decision(decision: ApprovalId): Result<WireDecision | undefined, ErrorEnvelope>;
  /** An answer counts once; a second one returns the first. */
  answer(
    decision: ApprovalId,
    resolution: Resolution,
    proposalHash: Digest | undefined,
  ): Promise<Result<WireDecision, ErrorEnvelope>>;
}

export interface GuidedRunsPorts {
  readonly index: SessionIndex;
  readonly desk: GuidedDesk;
  readonly reader: SessionReader;
  readonly stores: SessionStores;
  readonly contractEvent: GuidedPorts['contractEvent'];
}

export function openGuidedRuns({ index, desk, reader, stores, contractEvent }: GuidedRunsPorts): GuidedRuns {
  interface Found {
    readonly session: SessionSummary;
    readonly run: IndexedRun;
  }
  function all(): Result<readonly Found[], ErrorEnvelope> {
    const sessions = index.list();
    if (!sessions.ok) return sessions;
    return ok(sessions.value.flatMap(session => session.runs.map(run => ({ session, run }))));
  }

  function locate(id: RunId): Result<Found | undefined, ErrorEnvelope> {
    const found = all();
    return found.ok ? ok(found.value.find(({ run }) => run.runId === id)) : found;
  }

  function gaps(): Result<readonly { readonly session: SessionSummary; readonly gap: PersonGap }[], ErrorEnvelope> {
    const sessions = index.list();
    if (!sessions.ok) return sessions;
    // An unhealthy session cannot continue, so nothing waits in it.
    const healthy = sessions.value.filter(({ health }) => health === 'healthy');
    return ok(
      healthy
        .flatMap(session => session.gaps.map(gap => ({ session, gap })))
        .toSorted((a, b) => (a.gap.askedAt < b.gap.askedAt ? -1 : a.gap.askedAt > b.gap.askedAt ? 1 : 0)),
    );
  }

  function gapOf(id: ApprovalId) {
    const found = gaps();
    return found.ok ? ok(found.value.find(({ gap }) => gap.gapId === id)) : found;
  }

  /** The data needed to read a run's events. */
  function partsOf({ session, run }: Found) {
    // Healthy sessions are cached, and only new events are read.
    const healthy = reader.view(session.sessionId);
    const salvaged = healthy.ok ? undefined : reader.salvage(session.sessionId);
    if (salvaged?.ok === false) return salvaged;
    const view = healthy.ok ? healthy.value : salvaged?.value.view;
    if (view === undefined) return err(unknownSession(`Session ${session.sessionId} is gone.`));
    const events = view.events();
    const timeOf = eventTimes(stores, session.sessionId, view.length);
    const dag: RunDag | undefined = projectRunDags(events).get(run.runId);
    const pinned = run.workflowHash === null ? undefined : reader.workflow(run.workflowHash);
    const compiled = pinned?.ok === true ? pinned.value : undefined;
    const stateOf = (ref: Digest) => {
      const state = reader.state(ref);
      return state.ok ? state.value : undefined;
    };
    return ok({ view, events, timeOf, dag, compiled, stateOf });
  }

  return {
    list: createRunList(index),

    find(id) {
      const found = locate(id);
      if (!found.ok || found.value === undefined) return found.ok ? ok(undefined) : found;
      return ok(guidedSummary(found.value.session, found.value.run));
    },

    show(id) {
      const found = locate(id);
      if (!found.ok || found.value === undefined) return found.ok ? ok(undefined) : found;
      const { session, run } = found.value;
      const parts = partsOf(found.value);
      if (!parts.ok) return parts;
      const { dag, events } = parts.value;
      if (dag === undefined) return ok(undefined);
      const decisions = session.gaps
        .filter(gap => gap.runId === id && gap.status === 'open')
        .map(gap => decisionOfGap(session, gap));
      return ok(guidedSnapshot({ ...parts.value, summary: guidedSummary(session, run), dag, events, decisions }));
    },

    events(id, from, limit) {
      const found = locate(id);
      if (!found.ok || found.value === undefined) return found.ok ? ok([]) : found;
      const parts = partsOf(found.value);
      if (!parts.ok) return parts;
      const { view, events, timeOf, dag, compiled, stateOf } = parts.value;
      const stepAt = (node: Parameters<RunDag['nodes']['get']>[0]) => {
        const place = dag?.nodes.get(node);
        const state = place && stateOf(place.snapshotRef);
        if (state?.kind === 'complete') return 'complete' as const;
        const step = state && derivePendingStep(state);
        const title = compiled?.steps.find(({ stepId }) => stepId === step?.stepId)?.title ?? step?.stepId;
        return title === undefined ? undefined : { title };
      };
      return ok(
        eventsOfRun(events, id)
          .slice(from, from + limit)
          .map(({ seq, event }) => ({
            contract: contractEvent(event, { run: id, seq, at: timeOf(event.eventIndex), stepAt }),
            stored: event,
            hash: view.headAt(event.eventIndex + 1),
          })),
      );
    },

    artifacts(run) {
      const sessions = index.list();
      if (!sessions.ok) return sessions;
      return ok(
        sessions.value
          .flatMap(({ artifacts }) => artifacts)
          .filter(({ runId }) => run === undefined || runId === run)
          .map(artifactOf)
          .sort((a, b) => (a.createdAt !== b.createdAt ? (a.createdAt < b.createdAt ? 1 : -1) : a.id < b.id ? 1 : -1)),
      );
    },

    content({ digest }) {
      const text = stores.artifact(digest);
      return text.ok ? ok(utf8Bytes(text.value)) : text;
    },

    decisions() {
      const found = gaps();
      return found.ok ? ok(found.value.map(({ session, gap }) => decisionOfGap(session, gap))) : found;
    },

    decision(id) {
      const found = gapOf(id);
      if (!found.ok || found.value === undefined) return found.ok ? ok(undefined) : found;
      return ok(decisionOfGap(found.value.session, found.value.gap));
    },

    async answer(id, resolution, proposalHash) {
      const found = gapOf(id);
      if (!found.ok) return found;
      if (found.value === undefined) return err(unknownDecision(id));
      const { session, gap } = found.value;
      const known = desk.find(session.sessionId, gap.gapId);
      if (!known.ok) return known;
      const answered = await desk.answer(
        session.sessionId,
        known.value.gap.gapId,
        gapAnswerOf(resolution, proposalHash),
      );
      if (!answered.ok) return answered;
      const after = gapOf(id);
      if (!after.ok) return after;
      return ok(decisionOfGap(session, after.value?.gap ?? gap));
    },
  };
}

/** Handed-in artifacts are JSON; the author's `kind` is the name. */
function artifactOf({ id, runId, nodeId, contentType, digest, bytes, at }: HandedIn): WireArtifact {
  const rest = { kind: 'report', name: contentType, mimeType: 'application/json' } as const;
  return { id, ref: artifactRefOf(id), run: runId, nodeId, ...rest, bytes, digest, createdAt: at };
}

function unknownDecision(decision: ApprovalId): ErrorEnvelope<'decision/unknown'> {
  return failure('decision/unknown', {
    message: `There is no decision ${decision}.`,
    suggestion: 'List the open decisions and answer one of them.',
    details: { decision },
  });
}
