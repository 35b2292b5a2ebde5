export { type AgentScript, type AgentTurn, inTurn, type Spent } from './agent-scripts.ts';
export { type PersonScript, type TestPlanOptions, testPlan } from './test-plan.ts';
export type { TestEnd, TestNode, TestQuestion, TestRun, TestState, TestView } from './test-run.ts';
