export { exportSession } from './bundles/session-export.ts';
export { importSession } from './bundles/session-import.ts';
export type { GuidedPorts } from './ports.ts';
export {
  type CollectOptions,
  collectSessions,
} from './retention/session-collection.ts';
export type { GuidedEvent, GuidedRuns } from './runs/guided-runs.ts';
export { listGuidedRuns } from './runs/list-guided-runs.ts';
export { findSession } from './sessions/find-session.ts';
export { openGuidedDesk, type WaitingGap } from './sessions/guided-desk.ts';
export { type GuidedSessions, openGuidedSessions } from './sessions/guided-sessions.ts';
export {
  type NodeDetail,
  type RunDetail,
  type SessionDetail,
  showSession,
} from './sessions/session-detail.ts';
export { openSessionFiles } from './sessions/session-files.ts';
export { listSessions } from './sessions/session-index.ts';
export { keepSession } from './sessions/session-keeping.ts';

export type { SessionSummary } from './sessions/session-summary.ts';
export { type GuidedTools, guidedSchemas } from './tools/guided-tools.ts';
export { type GuidedToolsOptions, openGuidedTools } from './tools/open-guided-tools.ts';
export { listTokenKeys, rotateTokenKeys, type TokenKey } from './tools/token-keys.ts';
export type {
  CheckpointAnswer,
  InspectAnswer,
  ListAnswer,
  ResumeAnswer,
  StepAnswer,
  Warning,
} from './tools/tool-answers.ts';
export {
  autonomy,
  riskPolicy,
} from './tools/tool-inputs.ts';
export { type HashInput, hashInputs } from './workflows/hash-inputs.ts';
export {
  listBuiltins,
  previewWorkflow,
  renamedSource,
  workflowSource,
} from './workflows/workflow-authoring.ts';
export { type CheckedWorkflow, checkSource, checkWorkflow } from './workflows/workflow-check.ts';
export { copyWorkflow, isOwnId } from './workflows/workflow-editing.ts';
export { fixedSource } from './workflows/workflow-fixes.ts';
export { type WorkflowSnippet, withSnippet, workflowSnippets } from './workflows/workflow-snippets.ts';
export { trialScript, tryWorkflow } from './workflows/workflow-trial.ts';
