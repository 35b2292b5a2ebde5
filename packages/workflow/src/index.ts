export { builtinCatalog } from './compile/builtins/catalog.ts';
export { contractPacks } from './compile/builtins/contract-packs.ts';
export {
  type CompiledWorkflow,
  compileWorkflow,
  type WorkflowRejected,
} from './compile/compile-workflow.ts';
export {
  type Autonomy,
  type Capability,
  type CompiledStep,
  type CompiledWorkflowSnapshotV1,
  compiledWorkflowSnapshotV1,
  type ProgramEntry,
} from './compile/compiled-workflow.ts';

export { limits as workflowLimits } from './compile/limits.ts';
export { type CompileMode, namedFix, type ProblemCode, problemCodes, type WorkflowProblem } from './compile/problem.ts';
export { type Routines, readRoutines } from './compile/routines.ts';
export { shapeFaults } from './compile/shape-check.ts';
export { sourceJsonSchema } from './compile/source-schema.ts';

export { idStatusOf, type SourceKind, suggestedIdOf } from './compile/workflow-id.ts';
export type { KnownCapabilities } from './interpret/capability-judgement.ts';
export { nextIntentOf, questionOnArrival } from './interpret/confirmation.ts';
export { recordedWarnings, traceWithWarnings } from './interpret/decision-trace.ts';
export { interpret, type Next } from './interpret/interpreter.ts';
export { faultReason, type InterpreterFault } from './interpret/interpreter-fault.ts';
export type { StepOutput } from './interpret/loop-decision.ts';
export {
  type Given,
  judgeOutput,
  recommendationWarnings,
  type Warning,
} from './interpret/output-judgement.ts';
export { NOTES_TEMPLATE, outputTemplate, placeholdersIn } from './interpret/output-template.ts';
export { blockerReportOf, gapsOf } from './interpret/reason.ts';
export type { OpenQuestion, UserAnswer } from './interpret/user-dependency.ts';
export {
  capabilityAt,
  enforceableStatus,
  projectCapabilities,
} from './projections/capabilities.ts';
export {
  type PreferenceBaselines,
  preferencesAt,
  projectPreferences,
} from './projections/effective-preferences.ts';
export { type Gap, isUnresolved, projectGaps } from './projections/gaps.ts';
export { type NodeOutput, projectNodeOutputs } from './projections/node-outputs.ts';
export { projectObservations } from './projections/observations.ts';
export {
  type ResumableSession,
  rankResumable,
} from './projections/resume-ranking.ts';
export { mergeContext, projectRunContexts } from './projections/run-context.ts';
export {
  projectRunDags,
  type RunDag,
} from './projections/run-dag.ts';
export { projectRunStatus } from './projections/run-status.ts';
export { type SessionHealth, sessionGate } from './projections/session-gate.ts';
export {
  type NodeView,
  projectSession,
  type RunView,
} from './projections/session-view.ts';
export { projectRecovery } from './projections/walk-recovery.ts';
export {
  answersAt,
  artifactsInto,
  notesInto,
  type WalkedStep,
  wayBack,
} from './projections/walked-way.ts';
export { renderPrompt } from './prompts/prompt.ts';
export type { Recovery } from './prompts/recovery.ts';
export {
  type Attempt,
  planAdvance,
} from './session/advance-plan.ts';
export { nextAttemptId, nextCheckpointId } from './session/attempts.ts';
export type { Blocker } from './session/blockers.ts';
export { budgets } from './session/bounded-text.ts';
export {
  artifactRefsOf,
  type Bundle,
  buildBundle,
  bundleV1,
  type Export,
  encodeBundle,
  MAX_BUNDLE_BYTES,
  workflowHashesOf,
} from './session/bundle.ts';
export { bundleFailure } from './session/bundle-failure.ts';
export { type ImportPlan, planImport } from './session/bundle-import.ts';
export { readBundle } from './session/bundle-reading.ts';

export { planCheckpoint } from './session/checkpoint-plan.ts';
export { boundTrace } from './session/decision-trace.ts';
export {
  type DedupeKey,
  type DomainEvent,
  type DomainEventKind,
  domainEventV1,
  type EventFacts,
  type EventOf,
} from './session/domain-event.ts';
export type {
  GapAnswer,
  OutputPayload,
  TraceEntry,
} from './session/event-data.ts';
export { draftOf, type Place, type SessionPlan } from './session/event-draft.ts';
export { sessionEventSchema } from './session/event-schema.ts';
export {
  derivePendingStep,
  type EngineState,
  type ExecutionSnapshotFileV1,
  executionSnapshotFileV1,
} from './session/execution-snapshot.ts';
export { isSystemError, type KeyringError, openKeyringFile } from './session/files/keyring-file.ts';
export { nodeMac } from './session/files/node-mac.ts';
export { planGapAnswer, proposalHash } from './session/gap-answer-plan.ts';
export { historyFault } from './session/history-fault.ts';
export { type AttemptId, type GapId, guidedId, type TraceId } from './session/ids.ts';
export { checkContext } from './session/invalid-input.ts';
export { type Keyring, keyNames, keyring } from './session/keyring.ts';
export type { Observed } from './session/observation-plan.ts';
export type { Correction } from './session/output-facts.ts';
export { planPreferences } from './session/preference-plan.ts';
export {
  defaultPreferences,
  loosenedBy,
  modePresets,
  type Preferences,
} from './session/preferences.ts';
export {
  type BlockerCode,
  blockerCode,
  type ReasonCode,
  reasonCodeOf,
  reasonCodes,
} from './session/reasons.ts';
export {
  type RecordedAdvance,
  recordedAdvance,
  recordedCheckpoint,
  requireRecordedAdvance,
} from './session/recorded-facts.ts';
export {
  decideRetention,
  decideSnapshotCollection,
  retentionDefaults,
  type StoredSession,
} from './session/retention.ts';
export { readManifest } from './session/session-manifest.ts';
export { planStart } from './session/start-plan.ts';
export {
  formatStepInstanceKey,
  type StepInstance,
} from './session/step-instance-key.ts';
export { nodeOfToken, samePlace, tokenSessionLocked } from './session/token-place.ts';
export {
  mintToken,
  readToken,
  type TokenError,
  type TokenKind,
  type TokenOf,
  type TokenPayload,
  tokenPayload,
} from './session/tokens.ts';
export { AHEAD_FILE } from './sources/compiled-ahead.ts';
export { readWorkflowFile } from './sources/workflow-file.ts';
export {
  bundledPlace,
  compileBundled,
  type FoundWorkflow,
  openWorkflowLibrary,
  type WorkflowLibrary,
  type WorkflowListing,
  type WorkflowPlace,
} from './sources/workflow-library.ts';
