export { withEndpoint } from './agent-endpoint.ts';
export { agentProject, INSTALL_ARGUMENTS, installedIn } from './agent-packages.ts';
export { AGENT_ROWS, type AgentRow, type InstalledAgent } from './register.ts';
