import { nodeHasher } from '@signalbox/journal';
import {
  approvalId,
  artifactId,
  type Digest,
  digest,
  type ErrorEnvelope,
  guidedRunStatus,
  nodeId,
  ok,
  type Result,
  type RunId,
  runId,
  type SessionId,
  type Timestamp,
  timestamp,
  timestampOf,
  truncateUtf8,
} from '@signalbox/model';
import {
  type DomainEvent,
  derivePendingStep,
  type Gap,
  isUnresolved,
  projectGaps,
  projectObservations,
  projectSession,
  proposalHash,
} from '@signalbox/workflow';
import * as z from 'zod';
import { lastActive } from '../retention/retained-journals.ts';
import { eventsOfRun } from '../runs/events-of-run.ts';
import { guidedArtifactId } from '../runs/projections/guided-parts.ts';
import { eventTimes } from './event-times.ts';
import { cached } from './session-cache.ts';
import { isKept } from './session-keeping.ts';
import type { SessionStores } from './session-stores.ts';
import { questionSources, shownQuestion } from './shown-question.ts';

const runSummary = z.strictObject({
  runId,
  workflowId: z.string().nullable(),
  workflowHash: digest.nullable(),
  name: z.string().nullable(),
  status: guidedRunStatus,
  preferredTip: nodeId.nullable(),
  pendingStep: z.strictObject({ stepId: z.string(), title: z.string() }).nullable(),
  /** How many of the session's events belong to this run. */
  events: z.int().nonnegative(),
  startedAt: timestamp,
  writtenAt: timestamp,
});

/** A gap that only the person can resolve, open or not. */
const personGap = z.strictObject({
  gapId: approvalId,
  runId,
  nodeId,
  severity: z.enum(['info', 'warning', 'critical']),
  detail: z.string(),
  summary: z.string(),
  askedAt: timestamp,
  shown: digest,
  /** What the person sees besides the summary; null once it is settled. */
  step: z.strictObject({ title: z.string(), prompt: z.string() }).nullable(),
  proposed: z.strictObject({ notes: z.string().nullable(), artifacts: z.array(z.string()) }).nullable(),
  status: z.enum(['open', 'answered', 'withdrawn']),
  answer: z.strictObject({ kind: z.enum(['approved', 'denied', 'answered']), words: z.string().nullable() }).nullable(),
  closedAt: timestamp.nullable(),
});
export type PersonGap = Readonly<z.infer<typeof personGap>>;

/** An artifact that was handed in besides the notes. */
const handedIn = z.strictObject({
  id: artifactId,
  runId,
  nodeId,
  contentType: z.string(),
  digest,
  bytes: z.int().nonnegative(),
  at: timestamp,
});
export type HandedIn = Readonly<z.infer<typeof handedIn>>;

/** How many are listed, newest first. */
const HANDED_IN = 200;

/** How many resolved gaps are listed; older ones are in the session. */
const SETTLED_GAPS = 100;

const sessionSummary = z.strictObject({
  health: z.enum(['healthy', 'corrupt_tail', 'corrupt_head', 'unknown_version']),
  events: z.int().nonnegative(),
  head: digest,
  runs: z.array(runSummary),
  omittedRuns: z.int().nonnegative(),
  /** The number of open gaps for the person. */
  waiting: z.int().nonnegative(),
  /** In the order of recording. */
  gaps: z.array(personGap),
  artifacts: z.array(handedIn),
  branch: z.string().nullable(),
  repository: z.string().nullable(),
  /** The first line of the latest notes. */
  recap: z.string().nullable(),
});

export type RunSummary = Readonly<z.infer<typeof runSummary>>;

export interface SessionSummary extends Readonly<z.infer<typeof sessionSummary>> {
  readonly sessionId: SessionId;
  readonly isKept: boolean;
  readonly lastActiveAt: Timestamp;
}

/** One session; undefined for a start that was cut off before its first append. */
export function readSummary(
  stores: SessionStores,
  sessionId: SessionId,
): Result<SessionSummary | undefined, ErrorEnvelope> {
  const summary = cached(stores, sessionId, sessionSummary, () => summaryOf(stores, sessionId));
  if (!summary.ok) return summary;
  if (summary.value.events === 0 && summary.value.health === 'healthy') return ok(undefined);
  const at = lastActive(stores, sessionId);
  const lastActiveAt = timestampOf({ now: () => at });
  return ok({ sessionId, ...summary.value, isKept: isKept(stores, sessionId), lastActiveAt });
}

type Summary = z.infer<typeof sessionSummary>;

function summaryOf(
  stores: SessionStores,
  sessionId: SessionId,
): Result<{ readonly value: Summary; readonly isLasting: boolean }, ErrorEnvelope> {
  const read = stores.journal(sessionId).salvage();
  if (!read.ok) return read;
  const { health, view } = read.value;
  const events = view.events();
  let isLasting = health === 'healthy';
  const stateOf = (ref: Digest) => {
    const snapshot = stores.snapshot(ref);
    if (snapshot.ok) return snapshot.value.enginePayload.engineState;
    isLasting = false;
    return undefined;
  };
  const { runs, omittedRuns } = projectSession(events, { health, engineStateOf: stateOf });
  const observed = projectObservations(events);
  const timeOf = eventTimes(stores, sessionId, view.length);
  const gaps = projectGaps(events).filter(({ reason }) => reason.category === 'user_only_dependency');
  const value: Summary = {
    health,
    events: view.length,
    head: view.head,
    runs: runs.map(({ runId: id, workflow, status, preferredTip, nodes }) => {
      const pinned = workflow && stores.workflow(workflow.workflowHash);
      const compiled = pinned?.ok === true ? pinned.value : undefined;
      const tip = nodes.find(node => node.nodeId === preferredTip);
      const state = tip && stateOf(tip.snapshotRef);
      const stepId = state && derivePendingStep(state)?.stepId;
      const step = compiled?.steps.find(each => each.stepId === stepId);
      return {
        runId: id,
        workflowId: workflow?.workflowId ?? null,
        workflowHash: workflow?.workflowHash ?? null,
        name: compiled?.name ?? null,
        status,
        preferredTip: preferredTip ?? null,
        pendingStep: step === undefined ? null : { stepId: step.stepId, title: step.title },
        ...spanOf(events, id, timeOf),
      };
    }),
    omittedRuns,
    waiting: gaps.filter(isUnresolved).length,
    artifacts: handedInOf(events, timeOf).slice(-HANDED_IN),
    gaps: listedGaps(gaps).map(gap => personGapOf(stores, gap, events, timeOf)),
    branch: observed.get('git_branch')?.value ?? null,
    repository: observed.get('repo_root')?.value ?? null,
    recap: firstLine(runs[0]?.recap),
  };
  return ok({ value, isLasting });
}

function firstLine(text: string | undefined): string | null {
  const line = text?.split('\n').find(each => each.trim() !== '');
  return line === undefined ? null : truncateUtf8(line.trim(), 200);
}

/** All open gaps, and the newest resolved ones. */
function listedGaps(gaps: readonly Gap[]): readonly Gap[] {
  const settled = new Set(gaps.filter(gap => !isUnresolved(gap)).slice(-SETTLED_GAPS));
  return gaps.filter(gap => isUnresolved(gap) || settled.has(gap));
}

function personGapOf(
  stores: SessionStores,
  gap: Gap,
  events: readonly DomainEvent[],
  timeOf: (index: number) => Timestamp,
): PersonGap {
  const { gapId, runId: run, nodeId: node, severity, reason, summary, recordedAt, answer } = gap;
  const settled = gap.resolvedBy;
  const question = settled === undefined ? shownQuestion(questionSources(stores), events, gap) : undefined;
  const closed = settled && events.findLast(event => event.kind === 'gap_recorded' && event.data.gapId === settled);
  return {
    // A gap has an id like any decision.
    gapId: approvalId.parse(gapId),
    runId: run,
    nodeId: node,
    severity,
    detail: reason.detail,
    summary,
    askedAt: timeOf(recordedAt),
    shown: question?.hash ?? proposalHash(nodeHasher, gap),
    step: question?.step ?? null,
    proposed: question?.proposed ? { ...question.proposed, artifacts: [...question.proposed.artifacts] } : null,
    status: settled === undefined ? 'open' : answer === undefined ? 'withdrawn' : 'answered',
    answer:
      answer === undefined
        ? null
        : { kind: answer.kind, words: (answer.kind === 'answered' ? answer.value : answer.note) ?? null },
    closedAt: closed === undefined ? null : timeOf(closed.eventIndex),
  };
}

/** How many events a run has, and when its own first and last were written. */
function spanOf(events: readonly DomainEvent[], run: RunId, timeOf: (index: number) => Timestamp) {
  const own = eventsOfRun(events, run);
  const scoped = own.filter(({ event }) => 'scope' in event && event.scope !== undefined);
  const [first, last] = [scoped[0]?.event.eventIndex ?? 0, scoped.at(-1)?.event.eventIndex ?? 0];
  return { events: own.length, startedAt: timeOf(first), writtenAt: timeOf(last) };
}

function handedInOf(events: readonly DomainEvent[], timeOf: (index: number) => Timestamp): readonly HandedIn[] {
  return events.flatMap(event => {
    if (event.kind !== 'node_output_appended' || event.data.payload.payloadKind !== 'artifact_ref') return [];
    const { outputId, payload } = event.data;
    const { contentType, sha256, byteLength } = payload;
    const place = { id: guidedArtifactId(outputId), ...event.scope };
    return [{ ...place, contentType, digest: sha256, bytes: byteLength, at: timeOf(event.eventIndex) }];
  });
}
