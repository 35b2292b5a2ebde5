export type { AgentRow, InstalledAgent } from '@signalbox/adapters/agents';
export { type AgentDoctorOptions, doctorAgents } from '../agent-doctor/agent-doctor.ts';
export { type AgentRegister, openAgentRegister } from './agent-register.ts';
export {
  type AgentsDeskOptions,
  addAgent,
  agentsToTry,
  findAgent,
  type KnownAgent,
  listAgents,
  removeAgent,
} from './agents-desk.ts';
