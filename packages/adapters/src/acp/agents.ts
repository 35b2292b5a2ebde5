export { heldChoiceOf, heldQuestion, reviewQuestion } from '../attempt/held-changes.ts';
export { type TurnCheck, turnCheck } from '../attempt/turn-check.ts';
export { withEndpoint } from './agent-endpoint.ts';
export { type AgentProject, agentProject, INSTALL_ARGUMENTS, installedIn } from './agent-packages.ts';
export { AGENT_ROWS, type AgentRow, type InstalledAgent } from './register.ts';
export { AGENT_TURN } from './turn-history.ts';
export { pastTurn } from './turn-tool.ts';
