import { type NodeId, type RunId, type SessionId, TRUNCATION_MARKER, truncateUtf8 } from '@signalbox/model';
import { compareText } from '../session/blockers.ts';
import type { DomainEvent } from '../session/domain-event.ts';
import { projectNodeOutputs } from './node-outputs.ts';
import { projectObservations } from './observations.ts';
import { projectRunDags } from './run-dag.ts';
import { type SessionHealth, sessionGate } from './session-gate.ts';
import { latestRecap } from './walked-way.ts';

const resumeBudgets = { candidates: 5, snippetBytes: 2048 } as const;

/** Why a run was offered, strongest first; the first is its tier. */
const matchReasons = [
  'matched_head_sha',
  'matched_branch',
  'matched_notes',
  'matched_workflow_id',
  'recency_fallback',
] as const;
type MatchReason = (typeof matchReasons)[number];

export interface ResumeQuery {
  readonly gitHeadSha?: string | undefined;
  readonly gitBranch?: string | undefined;
  /** What the person remembers about it. */
  readonly text?: string | undefined;
}

export interface ResumableSession {
  readonly sessionId: SessionId;
  readonly health: SessionHealth;
  readonly events: readonly DomainEvent[];
  /** The name of a pinned workflow, if any. */
  readonly workflowName?: ((workflowHash: string) => string | undefined) | undefined;
}

export interface ResumeCandidate {
  readonly sessionId: SessionId;
  readonly runId: RunId;
  /** The preferred tip of the run. */
  readonly nodeId: NodeId;
  readonly workflowId: string;
  readonly workflowHash: string;
  readonly lastActivityEventIndex: number;
  readonly whyMatched: readonly MatchReason[];
  readonly snippet: string;
}

/** The runs that a person most likely means, best first: by tier, then by activity, then by id. Never by time. */
export function rankResumable(sessions: readonly ResumableSession[], query: ResumeQuery): readonly ResumeCandidate[] {
  return sessions
    .filter(session => sessionGate(session.health).mayExecute)
    .flatMap(session => candidatesOf(session, query))
    .toSorted(compareCandidates)
    .slice(0, resumeBudgets.candidates);
}

/** The normalised words of a text, for both sides of a match. */
export function searchTokens(text: string): ReadonlySet<string> {
  return new Set(
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[a-z0-9_-]+/g) ?? [],
  );
}

function candidatesOf(session: ResumableSession, query: ResumeQuery): readonly ResumeCandidate[] {
  const observed = projectObservations(session.events);
  const outputs = projectNodeOutputs(session.events);
  const wanted = searchTokens(query.text ?? '');
  const branch = observed.get('git_branch')?.value;
  return [...projectRunDags(session.events).values()].flatMap(dag => {
    if (dag.preferredTip === undefined || dag.workflow === undefined) return [];
    const { workflowId, workflowHash } = dag.workflow;
    const notes = latestRecap(dag, outputs) ?? '';
    const name = session.workflowName?.(workflowHash) ?? '';
    const matches: Readonly<Record<MatchReason, boolean>> = {
      matched_head_sha: isGiven(query.gitHeadSha) && observed.get('git_head_sha')?.value === query.gitHeadSha,
      matched_branch: isGiven(query.gitBranch) && branch?.startsWith(query.gitBranch) === true,
      matched_notes: holdsAll(notes.replaceAll(TRUNCATION_MARKER, ' '), wanted),
      matched_workflow_id: holdsAll(`${workflowId} ${name}`, wanted),
      recency_fallback: false,
    };
    const why = matchReasons.filter(reason => matches[reason]);
    return [
      {
        sessionId: session.sessionId,
        runId: dag.runId,
        nodeId: dag.preferredTip.nodeId,
        workflowId,
        workflowHash,
        lastActivityEventIndex: dag.preferredTip.lastActivity,
        whyMatched: why.length === 0 ? ['recency_fallback'] : why,
        snippet: truncateUtf8(notes, resumeBudgets.snippetBytes),
      },
    ];
  });
}

function isGiven(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

/** All words must match whole; an empty query matches nothing. */
function holdsAll(text: string, wanted: ReadonlySet<string>): boolean {
  return wanted.size > 0 && wanted.isSubsetOf(searchTokens(text));
}

function compareCandidates(left: ResumeCandidate, right: ResumeCandidate): number {
  return (
    tierOf(left) - tierOf(right) ||
    right.lastActivityEventIndex - left.lastActivityEventIndex ||
    compareText(left.sessionId, right.sessionId) ||
    compareText(left.runId, right.runId)
  );
}

function tierOf({ whyMatched }: ResumeCandidate): number {
  return matchReasons.indexOf(whyMatched[0] ?? 'recency_fallback');
}
