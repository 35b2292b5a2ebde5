import {
  type Digest,
  digest,
  type ErrorEnvelope,
  guidedRunStatus,
  nodeId,
  ok,
  type Result,
  runId,
  type SessionId,
  type Timestamp,
  timestampOf,
  truncateUtf8,
} from '@signalbox/model';
import { derivePendingStep, isUnresolved, projectGaps, projectObservations, projectSession } from '@signalbox/workflow';
import * as z from 'zod';
import { lastActive } from './retained-journals.ts';
import { cached } from './session-cache.ts';
import { isKept } from './session-keeping.ts';
import { openSessionStores, type SessionStores, type SessionStoresOptions } from './session-stores.ts';

const runSummary = z.strictObject({
  runId,
  workflowId: z.string().nullable(),
  workflowHash: digest.nullable(),
  name: z.string().nullable(),
  status: guidedRunStatus,
  preferredTip: nodeId.nullable(),
  pendingStep: z.strictObject({ stepId: z.string(), title: z.string() }).nullable(),
});

const sessionSummary = z.strictObject({
  health: z.enum(['healthy', 'corrupt_tail', 'corrupt_head', 'unknown_version']),
  events: z.int().nonnegative(),
  head: digest,
  runs: z.array(runSummary),
  omittedRuns: z.int().nonnegative(),
  /** Gaps that wait for the person. */
  waiting: z.int().nonnegative(),
  branch: z.string().nullable(),
  repository: z.string().nullable(),
  /** The first line of what was noted last. */
  recap: z.string().nullable(),
});

export type RunSummary = Readonly<z.infer<typeof runSummary>>;

export interface SessionSummary extends Readonly<z.infer<typeof sessionSummary>> {
  readonly sessionId: SessionId;
  readonly isKept: boolean;
  readonly lastActiveAt: Timestamp;
}

/** All sessions, the last that was written first. Health is as of when a session was last read; `verify` reads it again. */
export function listSessions(options: SessionStoresOptions): Result<readonly SessionSummary[], ErrorEnvelope> {
  const stores = openSessionStores(options);
  const ids = stores.ids();
  if (!ids.ok) return ids;
  const sessions: { readonly at: number; readonly session: SessionSummary }[] = [];
  for (const sessionId of ids.value) {
    const summary = cached(stores, sessionId, sessionSummary, () => summaryOf(stores, sessionId));
    if (!summary.ok) return summary;
    // A start that was cut off before its first append.
    if (summary.value.events === 0 && summary.value.health === 'healthy') continue;
    const at = lastActive(stores, sessionId);
    const lastActiveAt = timestampOf({ now: () => at });
    sessions.push({ at, session: { sessionId, ...summary.value, isKept: isKept(stores, sessionId), lastActiveAt } });
  }
  sessions.sort((left, right) => right.at - left.at || (left.session.sessionId < right.session.sessionId ? -1 : 1));
  return ok(sessions.map(({ session }) => session));
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
      };
    }),
    omittedRuns,
    waiting: projectGaps(events).filter(gap => isUnresolved(gap) && gap.reason.category === 'user_only_dependency')
      .length,
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
