import type { FleetDecision, FleetState } from '@signalbox/fleet';
import {
  asJson,
  type DecisionStatus,
  defined,
  deriveId,
  type NodeId,
  type RunId,
  type ToolId,
  type WireDecision,
} from '@signalbox/model';
import { contractResolution } from '../contract-view/projections/decision-tool.ts';

/** An agent that works in no run is its own node; its adapter session is what the contract calls a run (R23). */
export function approvalView({ agents }: FleetState, item: FleetDecision): WireDecision {
  const { id, agentId, session, subject, proposalHash, raisedAt, resolution, reassignedTo } = item;
  const agent = agents.agents[reassignedTo ?? agentId];
  const isCall = subject.subtype === 'tool_approval';
  const context = isCall ? undefined : subject.summary || subject.title;
  return {
    approvalId: id,
    runId: session as string as RunId,
    nodeId: agentId as string as NodeId,
    kind: 'agent',
    tool: {
      id: deriveId<ToolId>('decision-tool', id),
      name: isCall ? subject.toolName : 'choice',
      args: isCall ? subject.toolArgs : { title: subject.title, options: subject.options.map(asJson) },
    },
    ...defined({ context }),
    ...(resolution === undefined ? {} : { resolution: contractResolution(resolution) }),
    decision: {
      node: agent?.name ?? agentId,
      iteration: 0,
      call: id,
      kind: isCall ? 'command_exec' : 'choice',
      proposal: asJson(subject),
      proposalHash,
      askedAt: raisedAt ?? agent?.requestedAt ?? EPOCH,
      status: statuses[item.status],
      ...defined({ resolution }),
    },
  };
}

/** Of decisions that are older than the time of asking in the log, whose agent is gone. */
const EPOCH = '1970-01-01T00:00:00.000Z' as WireDecision['decision']['askedAt'];

const statuses: Readonly<Record<DecisionStatus, WireDecision['decision']['status']>> = {
  open: 'open',
  suspended: 'open',
  answered: 'answered',
  expired: 'withdrawn',
  cancelled: 'withdrawn',
  withdrawn: 'withdrawn',
};
