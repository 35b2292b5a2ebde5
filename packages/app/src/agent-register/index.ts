export { doctorAgents } from '../agent-doctor/agent-doctor.ts';
export { layersFor } from '../doctor/layer-check.ts';
export { type AgentJobs, openAgentJobs } from './agent-jobs.ts';
export { type AgentRegister, openAgentRegister } from './agent-register.ts';
export {
  addAgent,
  agentsToTry,
  findAgent,
  type KnownAgent,
  listAgents,
  removeAgent,
} from './agents-desk.ts';
