export type {
  CheckedWorkflow,
  CheckpointAnswer,
  GuidedRuns,
  GuidedSessions,
  GuidedTools,
  HashInput,
  InspectAnswer,
  ListAnswer,
  NodeDetail,
  ResumeAnswer,
  RunDetail,
  SessionDetail,
  SessionSummary,
  StepAnswer,
  TokenKey,
  WaitingGap,
  Warning,
  WorkflowSnippet,
} from '@signalbox/guided';
export {
  checkSource,
  checkWorkflow,
  fixedSource,
  guidedSchemas,
  hashInputs,
  isOwnId,
  listBuiltins,
  listTokenKeys,
  previewWorkflow,
  renamedSource,
  rotateTokenKeys,
  trialScript,
  tryWorkflow,
  withSnippet,
  workflowSnippets,
  workflowSource,
} from '@signalbox/guided';
export type { SessionId } from '@signalbox/model';
export { type Gap, type GapAnswer, MAX_BUNDLE_BYTES, sourceJsonSchema } from '@signalbox/workflow';
export {
  type AppliedConfig,
  configOf,
  readAppliedConfig,
  recordAppliedConfig,
} from './applied-config.ts';
export { guidedPreferences } from './guided-config.ts';
export {
  exportSession,
  findSession,
  type GuidedToolsOptions,
  importSession,
  keepSession,
  listSessions,
  openGuidedDesk,
  openGuidedSessions,
  openGuidedTools,
  showSession,
} from './guided-home.ts';
export { programFault } from './mcp-handshake.ts';
