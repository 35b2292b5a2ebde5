export { createAcpRunner } from './acp-runner.ts';
export { withEndpoint } from './agent-endpoint.ts';
export { type AgentProject, agentProject, INSTALL_ARGUMENTS, installedIn } from './agent-packages.ts';
export type { AcpPorts, AgentHome, AgentLaunch, AgentProcess, TerminalLaunch } from './agent-process.ts';
export { AGENT_ROWS, type AgentRow, type InstalledAgent } from './register.ts';
