export { withEndpoint } from './agent-endpoint.ts';
export { type AgentProject, agentProject, INSTALL_ARGUMENTS, installedIn } from './agent-packages.ts';
export { AGENT_ROWS, type AgentRow, type InstalledAgent } from './register.ts';
