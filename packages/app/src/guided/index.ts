export type { SessionId } from '@signalbox/model';
export { type Gap, type GapAnswer, MAX_BUNDLE_BYTES } from '@signalbox/workflow';
export {
  type AppliedConfig,
  configOf,
  type GuidedConfig,
  readAppliedConfig,
  recordAppliedConfig,
} from './applied-config.ts';
export { findSession } from './find-session.ts';
export { guidedPreferences } from './guided-config.ts';
export { type GuidedDesk, openGuidedDesk, type WaitingGap } from './guided-desk.ts';
export { type GuidedSessions, openGuidedSessions } from './guided-sessions.ts';
export { type GuidedTools, guidedSchemas } from './guided-tools.ts';
export { type GuidedToolsOptions, openGuidedTools } from './open-guided-tools.ts';
export type { GuidedEvent, GuidedRuns } from './runs/guided-runs.ts';
export {
  type Collected,
  type CollectOptions,
  collectSessions,
  type KeptBecause,
  type SessionCollection,
} from './session-collection.ts';
export {
  type DetailOptions,
  type NodeDetail,
  type PinnedSource,
  type RunDetail,
  type SessionDetail,
  showSession,
} from './session-detail.ts';
export { type ExportOptions, exportSession, type SessionExport } from './session-export.ts';
export { type ImportOptions, importSession, type SessionImport } from './session-import.ts';
export { listSessions } from './session-index.ts';
export { keepSession } from './session-keeping.ts';
export type { PersonGap, RunSummary, SessionSummary } from './session-summary.ts';
export { listTokenKeys, rotateTokenKeys, type TokenKey, type TokenKeysOptions } from './token-keys.ts';
export type {
  CheckpointAnswer,
  InspectAnswer,
  ListAnswer,
  NextCall,
  ResumeAnswer,
  StepAnswer,
  Warning,
} from './tool-answers.ts';
export {
  type CheckpointInput,
  type ContinueInput,
  type InspectInput,
  inputLimits,
  type ListInput,
  type ResumeInput,
  type StartInput,
} from './tool-inputs.ts';
export { type CheckedWorkflow, checkWorkflow, type WorkflowCheckOptions } from './workflow-check.ts';
