export type { AgentTools } from '../attempt/agent-tools.ts';

export { type BuiltinRunnerOptions, createBuiltinRunner } from './builtin-runner.ts';
export { type ModelEnvironment, readModelEnvironment } from './model-environment.ts';
export { parseModelScript } from './model-script.ts';
export { createModelSource, type ModelOf, type ResolvedModel } from './model-source.ts';

export { createScriptedModel } from './scripted-model.ts';
