/** `signalbox/testing`: plans in tests, with any test runner. */
export {
  type AgentScript,
  type AgentTurn,
  inTurn,
  type PersonScript,
  type ScriptedCall,
  type Spent,
  type TestEnd,
  type TestNode,
  type TestPlanOptions,
  type TestQuestion,
  type TestRun,
  type TestState,
  type TestView,
  type ToolScript,
  testPlan,
} from '@signalbox/app/testing';
