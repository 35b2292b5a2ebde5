export { type ChildEnd, type RunningChild, startChild } from './child-process.ts';
export {
  type EchoCall,
  type EchoSetup,
  type EchoStep,
  echoAgentProgram,
  echoPrompt,
} from './echo-agent/echo-script.ts';
export { type FakeClock, fakeClock } from './fake-clock.ts';
export {
  type Interceptor,
  interceptedDisk,
  killThisProcess,
  recordingDisk,
  type StopPoint,
  stoppingDisk,
} from './intercepted-disk.ts';
export {
  type FactRecorded,
  factDraft,
  factRecorded,
  factSchema,
  openFacts,
  snapshotText,
  TEST_SESSION,
} from './journal-builders.ts';
export { type LossyDisk, lossyDisk, type PendingEffect } from './lossy-disk.ts';
export { memoryLocks } from './memory-locks.ts';
export type {
  AnswerFault,
  ModelAnswer,
  ModelRefusal,
  ModelReply,
  ModelRequest,
  ModelScript,
  ModelVendor,
  OfferedTool,
  SaidPart,
  ScriptedCall,
} from './model-server/model-script.ts';
export {
  type ModelServer,
  type ModelServerOptions,
  type RecordedRequest,
  startModelServer,
} from './model-server/model-server.ts';
export { type SeededRng, seededRng } from './seeded-rng.ts';
