export { type RunningChild, startChild } from './child-process.ts';
export {
  type EchoSetup,
  type EchoStep,
  echoAgentProgram,
  echoPrompt,
} from './echo-agent/echo-script.ts';
export { type FakeClock, fakeClock } from './fake-clock.ts';
export { filledTemplate } from './filled-template.ts';
export { manualTicks } from './fleet/manual-ticks.ts';
export {
  interceptedDisk,
  killThisProcess,
  recordingDisk,
  type StopPoint,
  stoppingDisk,
} from './intercepted-disk.ts';
export {
  type FactRecorded,
  factDraft,
  factSchema,
  openFacts,
  snapshotText,
  TEST_SESSION,
} from './journal-builders.ts';
export { type LossyDisk, lossyDisk } from './lossy-disk.ts';
export { memoryLocks } from './memory-locks.ts';
export type {
  ModelReply,
  ModelRequest,
  ModelScript,
  ModelVendor,
  ScriptedCall,
} from './model-server/model-script.ts';
export {
  type ModelServer,
  startModelServer,
} from './model-server/model-server.ts';
export { type SeededRng, seededRng } from './seeded-rng.ts';
