import type { AgentJobs } from '@signalbox/app/agents';
import { ok } from '@signalbox/model';
import type { Serving } from '../http/handlers.ts';

/** The agents of this machine. Installations and checks begin here, and are looked at with `agents`. */
export function agentHandlers(
  jobs: AgentJobs,
): Serving<'agents' | 'addAgent' | 'checkAgent' | 'cancelAgentJob' | 'removeAgent'> {
  return {
    agents() {
      const agents = jobs.list();
      return agents.ok ? ok({ agents: agents.value }) : agents;
    },
    addAgent: ({ agent }, _, { user }) => jobs.add(agent, user),
    checkAgent: ({ agent }, _, { user }) => jobs.check(agent, user),
    cancelAgentJob: ({ agent }) => jobs.cancel(agent),
    removeAgent: ({ agent }) => jobs.remove(agent),
  };
}
