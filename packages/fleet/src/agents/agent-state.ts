import {
  adapterSessionId,
  agentBrief,
  agentId,
  approvalId,
  briefChanges,
  escalationProtocol,
  pluginCapabilities,
  runSeat,
  serializedAgentState,
  text,
  timestamp,
  toolRiskClassification,
} from '@signalbox/model';
import * as z from 'zod';
import { count, name, tick } from '../fields.ts';

export const HISTORY_KEPT = 100;
/** Failed looks at an adapter's health, one after another, that make a crash. */
export const MISSED_POLLS = 3;

const registeredPlugin = z.strictObject({
  pluginName: name,
  version: name,
  capabilities: pluginCapabilities,
  toolClassifications: z.array(toolRiskClassification).readonly(),
});

/** One line of an agent's history. */
const historyEntry = z.strictObject({ at: timestamp, tick, what: text });

/** An agent: it has a name, a brief and a history that outlive its sessions. */
const agentRecord = z.strictObject({
  id: agentId,
  name,
  pluginName: name,
  /** As the fleet has it, with the rules of the mode; what an agent gets is without trust. */
  brief: agentBrief,
  /** The rules that the brief had before the mode's were added. */
  ownProtocol: escalationProtocol,
  status: z.enum(['starting', 'running', 'paused', 'completed', 'error', 'killed']),
  /** What people want of it, which may not have happened yet. */
  wanted: z.enum(['run', 'pause', 'kill', 'restart']),
  /** The adapter's session; null before the first one and after a kill. */
  session: adapterSessionId.nullable(),
  /** The vendor's name for its conversation. */
  sessionId: text.nullable(),
  /** Sessions so far. */
  lives: count,
  requestedAt: timestamp,
  startedAt: timestamp.nullable(),
  eventsEmitted: count,
  lastEventAt: timestamp.nullable(),
  /** What a running agent does not know yet, because its plugin cannot tell it. */
  pendingBriefChanges: briefChanges.nullable(),
  /** Newest last. */
  checkpoints: z.array(serializedAgentState).readonly(),
  /** One after another, without a task that was completed. */
  crashes: count,
  /** All of them: each asks a question of its own. */
  totalCrashes: count,
  missedPolls: count,
  /** When it is started again after a crash. */
  restartAt: timestamp.nullable(),
  /** Its policy wants that start to be from the brief, whatever checkpoints there are. */
  startsFresh: z.boolean(),
  history: z.array(historyEntry).readonly(),
  /** An agent of a plan: it works in a run, which alone starts it. */
  seat: runSeat.optional(),
  /** Decisions of its run that wait for a person. */
  asks: z.array(approvalId).readonly().optional(),
  /** The last ones that were answered: an answer counts once for its trust. */
  answered: z.array(approvalId).readonly().optional(),
});
export type AgentRecord = Readonly<z.infer<typeof agentRecord>>;

export const agentState = z.strictObject({
  plugins: z.record(name, registeredPlugin),
  agents: z.record(agentId, agentRecord),
});
export type AgentState = Readonly<z.infer<typeof agentState>>;

export const noAgents: AgentState = { plugins: {}, agents: {} };

/** True if a process works for the agent, or is about to. */
export function isLive({ status }: AgentRecord): boolean {
  return status === 'starting' || status === 'running';
}

/** Another running agent of the same role in the same workstream; the one that was there first. */
export function replacementFor({ agents }: AgentState, { id, brief }: AgentRecord): AgentRecord | undefined {
  return Object.values(agents)
    .filter(other => other.id !== id && other.status === 'running' && other.seat === undefined)
    .filter(other => other.brief.role === brief.role && other.brief.workstream === brief.workstream)
    .sort((a, b) => Date.parse(a.requestedAt) - Date.parse(b.requestedAt) || (a.id < b.id ? -1 : 1))[0];
}
