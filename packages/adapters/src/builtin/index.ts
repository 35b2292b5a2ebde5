export type { AgentTools } from '../attempt/agent-tools.ts';
export type { FailureCode } from '../attempt/task-failure.ts';
export { type BuiltinRunnerOptions, createBuiltinRunner } from './builtin-runner.ts';
export { type ModelEnvironment, type ProviderAccess, readModelEnvironment } from './model-environment.ts';
export { type ModelScript, parseModelScript, type ScriptRule } from './model-script.ts';
export { createModelSource, DEFAULT_MODELS, type ModelOf, type ResolvedModel } from './model-source.ts';
export { LIST_PRICES, type Price, type Prices } from './prices.ts';
export { createScriptedModel } from './scripted-model.ts';
