import { ok } from '@signalbox/model';
import type { FleetReads } from './fleet-reads.ts';

const NO_SERVER = 'No server runs it. Start one with: signalbox serve';

/** What is known of a fleet whose server is gone: the log says how agents were, and nothing works for them. */
export function unservedReads(reads: FleetReads): FleetReads {
  return {
    ...reads,
    agents: () => reads.agents().map(unserved),
    agent(id) {
      const found = reads.agent(id);
      return found.ok ? ok(unserved(found.value)) : found;
    },
  };
}

function unserved<Agent extends ReturnType<FleetReads['agents']>[number]>(agent: Agent): Agent {
  const isLive = agent.status === 'starting' || agent.status === 'running';
  return isLive ? { ...agent, standing: 'blocked', because: NO_SERVER } : agent;
}
