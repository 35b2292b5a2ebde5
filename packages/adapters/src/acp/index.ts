export { createAcpRunner } from './acp-runner.ts';
export type { AcpPorts, AgentLaunch, AgentProcess, ChosenAgent } from './agent-process.ts';
export { AGENT_ROWS, type AgentRow, type InstalledAgent, type ToolKind } from './register.ts';
