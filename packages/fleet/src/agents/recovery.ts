import {
  type AgentEvent,
  type AgentId,
  type ApprovalId,
  type CrashRecoveryPolicy,
  defaultCrashRecovery,
  deriveId,
  type Timestamp,
} from '@signalbox/model';
import type { ActEffect } from '../effects.ts';
import type { InnerFact } from '../inner-facts.ts';
import { kept, type Step } from '../step.ts';
import { lifecycle, noted, saved, spawned, starting } from './agent-changes.ts';
import { type AgentRecord, type AgentState, isLive } from './agent-state.ts';

/** The adapter or its machine died. `fleet.ts` says whether the agent starts again by itself; else a person is asked. */
export function crashed(
  state: AgentState,
  agent: AgentRecord,
  at: Timestamp,
  reason: string,
  tick: number,
): Step<AgentState> {
  if (!isLive(agent) && agent.status !== 'paused') return kept(state);
  const { id } = agent;
  const fault: AgentEvent = {
    type: 'error',
    agentId: id,
    severity: 'high',
    message: `Agent ${agent.name} crashed: ${reason}`,
    recoverable: true,
    errorCode: 'crashed',
    category: 'internal',
  };
  const after = noted(
    { ...agent, status: 'error', crashes: agent.crashes + 1, totalCrashes: agent.totalCrashes + 1, missedPolls: 0 },
    at,
    tick,
    `Crashed: ${reason}`,
  );
  return saved(state, after, [
    lifecycle(id, at, 'crashed', reason),
    { kind: 'own_event', at, event: fault },
    // A kill that was under way is done.
    ...(agent.wanted === 'kill' ? [] : [{ kind: 'crash_due', at, agentId: id } as const]),
  ]);
}

/** When a crashed agent starts again by itself; null if a person decides. */
export function restartTime(
  { crashes }: AgentRecord,
  trust: number,
  policy: CrashRecoveryPolicy,
  at: Timestamp,
): Timestamp | null {
  const { minTrustScore, maxConsecutiveCrashes, cooldownMs } =
    policy.autoRestartConditions ?? defaultCrashRecovery.autoRestartConditions;
  if (!policy.autoRestart || trust < minTrustScore || crashes >= maxConsecutiveCrashes) return null;
  return new Date(Date.parse(at) + cooldownMs).toISOString() as Timestamp;
}

/** Starts a stopped agent again: from its last checkpoint if it has one, else from its brief. */
export function recovered(
  state: AgentState,
  agent: AgentRecord,
  at: Timestamp,
  tick: number,
  mayResume = true,
): Step<AgentState> {
  const start = startAgain(agent, mayResume);
  const what = start.kind === 'spawn_agent' ? 'Starting from its brief' : 'Resuming from a checkpoint';
  return saved(state, noted(starting(agent), at, tick, what), [start]);
}

/** The start of an agent that stands still: from its last checkpoint if it has one, else from its brief. */
export function startAgain(agent: AgentRecord, mayResume = true): ActEffect {
  const { id, pluginName, checkpoints, pendingBriefChanges } = agent;
  const checkpoint = mayResume ? checkpoints.at(-1) : undefined;
  if (checkpoint === undefined) return spawned(agent);
  return { kind: 'resume_agent', agentId: id, pluginName, state: checkpoint, changes: pendingBriefChanges ?? {} };
}

/** The question that a crash is: its id derives from the number of the crash, so that each is asked once. */
export function recoveryDecisionId(agentId: AgentId, crash: number): ApprovalId {
  return deriveId<ApprovalId>('crash-recovery', agentId, crash);
}

/** Asks a person what to do about a crashed agent. */
export function recoveryQuestion(agent: AgentRecord, at: Timestamp): InnerFact {
  const hasCheckpoint = agent.checkpoints.length > 0;
  const resume = { id: 'resume', label: 'Resume', description: 'Go on from the last checkpoint; later work is lost.' };
  const event: AgentEvent = {
    type: 'decision',
    subtype: 'option',
    agentId: agent.id,
    decisionId: recoveryDecisionId(agent.id, agent.totalCrashes),
    title: `Agent ${agent.name} crashed`,
    summary: `It crashed ${agent.crashes} times in a row. What it stored is kept.`,
    severity: 'high',
    confidence: 0,
    blastRadius: 'medium',
    options: [
      ...(hasCheckpoint ? [resume] : []),
      { id: 'restart', label: 'Restart', description: 'Start again from the brief; work inside the sandbox is lost.' },
      { id: 'abandon', label: 'Abandon', description: 'Leave the agent; its open decisions become orphans.' },
    ],
    affectedArtifactIds: [],
    requiresRationale: false,
    dueByTick: null,
  };
  return { kind: 'own_event', at, event };
}

/** A person said what to do about a crash; anything else that was closed is no matter of this. */
export function recoveryAnswered(
  state: AgentState,
  agent: AgentRecord,
  { at, decisionId, resolution }: Extract<InnerFact, { kind: 'decision_closed' }>,
  tick: number,
): Step<AgentState> {
  if (agent.status !== 'error' || decisionId !== recoveryDecisionId(agent.id, agent.totalCrashes)) return kept(state);
  const choice = resolution?.chosenOptionId;
  if (choice === 'resume' || choice === 'restart') {
    return recovered(state, { ...agent, crashes: 0 }, at, tick, choice === 'resume');
  }
  const after = noted({ ...agent, wanted: 'kill', session: null }, at, tick, 'Abandoned');
  return saved(state, after, [
    { kind: 'session_ended', at, agentId: agent.id },
    { kind: 'agent_gone', at, agentId: agent.id },
  ]);
}
