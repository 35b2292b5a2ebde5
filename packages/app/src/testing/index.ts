export { type AgentScript, type AgentTurn, inTurn, type Spent } from './agent-scripts.ts';
export type { ScriptedCall, ToolScript } from './scripted-tools.ts';
export { type PersonScript, type TestPlanOptions, testPlan } from './test-plan.ts';
export type { TestEnd, TestNode, TestQuestion, TestRun, TestState, TestView } from './test-run.ts';
