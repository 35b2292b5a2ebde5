/** Everything that a plan can import from `signalbox`, wherever its file is. */

export { Retryable, Terminal } from './failures/verdicts.ts';
export { Fragment } from './jsx/element.ts';
export {
  Agent,
  Claude,
  Codex,
  Each,
  Effect,
  End,
  Gemini,
  Human,
  If,
  Keep,
  OpenAI,
  Parallel,
  Phase,
  Ralph,
  Recover,
  Step,
  Stop,
  SubPlan,
  Switch,
  Task,
  Timer,
  While,
} from './nodes/components.ts';
export { definePlan } from './plan-definition.ts';
export { PlanError } from './plan-error.ts';
export { tool } from './tools/own-tool.ts';
