export { type RunningChild, startChild } from './child-process.ts';
export {
  type EchoSetup,
  type EchoStep,
  echoAgentProgram,
  echoPrompt,
} from './echo-agent/echo-script.ts';
export { type FakeClock, fakeClock } from './fake-clock.ts';
export { type FakeTimers, fakeTimers } from './fake-timers.ts';
export { filledTemplate } from './filled-template.ts';
export { type CapabilityProfile, capabilityProfiles } from './fleet/capability-profiles.ts';
export {
  loadScenario,
  readScenario,
  type ScenarioName,
  scenarioBrief,
  scenarioNames,
  scenarioVariants,
} from './fleet/load-scenario.ts';
export { malformedEvents } from './fleet/malformed-events.ts';
export { manualTicks } from './fleet/manual-ticks.ts';
export { mockCoherence } from './fleet/mock-coherence.ts';
export {
  createMockPlugin,
  inProcessTransport,
  type MockPlugin,
  type MockPluginOptions,
  type MockSpeed,
} from './fleet/mock-plugin.ts';
export type { MockFailure, MockScenario } from './fleet/mock-script.ts';
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
