export { createAcpRunner } from './acp-runner.ts';
export { type ModelEndpoint, withEndpoint } from './agent-endpoint.ts';
export { type AgentProject, agentProject, INSTALL_ARGUMENTS, installedIn } from './agent-packages.ts';
export type { AcpPorts, AgentLaunch, AgentProcess, ChosenAgent } from './agent-process.ts';
export { AGENT_ROWS, type AgentRow, type InstalledAgent, type ToolKind } from './register.ts';
