export { type Builtin, builtinCatalog } from './compile/builtins/catalog.ts';
export { type ContractPack, contractPack, contractPacks } from './compile/builtins/contract-packs.ts';
export {
  type CompiledWorkflow,
  type CompileOptions,
  compileWorkflow,
  type WorkflowRejected,
} from './compile/compile-workflow.ts';
export {
  type Autonomy,
  type Capability,
  type CompiledAssessment,
  type CompiledCondition,
  type CompiledContract,
  type CompiledFunction,
  type CompiledLoop,
  type CompiledStep,
  type CompiledWorkflowSnapshotV1,
  compiledWorkflowSnapshotV1,
  type ModelTier,
  type ProgramEntry,
  type RiskPolicy,
} from './compile/compiled-workflow.ts';
export type { ConditionExpression, ConditionOperator } from './compile/condition.ts';
export { limits as workflowLimits } from './compile/limits.ts';
export { type CompileMode, type ProblemCode, problemCodes, type WorkflowProblem } from './compile/problem.ts';
export { type Routine, type Routines, readRoutines, routineName, TEMPLATE_PREFIX } from './compile/routines.ts';
export type { Shape, ShapeField } from './compile/shape.ts';
export { type ShapeFault, shapeFaults } from './compile/shape-check.ts';
export type { ValidationExpression, ValidationTest } from './compile/validation.ts';
export { type IdStatus, idStatusOf, isReservedId, type SourceKind, suggestedIdOf } from './compile/workflow-id.ts';
export type {
  KnownCapabilities,
  ObservedCapability,
} from './interpret/capability-judgement.ts';
export { type NextIntent, nextIntentOf } from './interpret/confirmation.ts';
export { type InterpreterEvent, interpret, type Next, type Situation } from './interpret/interpreter.ts';
export { faultReason, type InterpreterFault } from './interpret/interpreter-fault.ts';
export type { StepOutput } from './interpret/loop-decision.ts';
export {
  type Given,
  type Judgement,
  judgeOutput,
  recommendationWarnings,
  type Warning,
} from './interpret/output-judgement.ts';
export { blockerReportOf, gapsOf, type Reason } from './interpret/reason.ts';
export type { OpenQuestion, ReportedNeed, UserAnswer } from './interpret/user-dependency.ts';
export {
  type CapabilityHistory,
  type CapabilityObservation,
  capabilityAt,
  enforceableStatus,
  projectCapabilities,
} from './projections/capabilities.ts';
export {
  type PreferenceBaselines,
  type PreferenceHistory,
  preferencesAt,
  projectPreferences,
} from './projections/effective-preferences.ts';
export { type Gap, isUnresolved, projectGaps } from './projections/gaps.ts';
export { type NodeOutput, type NodeOutputs, projectNodeOutputs, recapNotes } from './projections/node-outputs.ts';
export { type Observations, projectObservations } from './projections/observations.ts';
export {
  type MatchReason,
  type ResumableSession,
  type ResumeCandidate,
  type ResumeQuery,
  rankResumable,
} from './projections/resume-ranking.ts';
export { mergeContext, projectRunContexts, type RunContext } from './projections/run-context.ts';
export {
  type DagEdge,
  type DagNode,
  type DagTip,
  lineage,
  projectRunDags,
  type RunDag,
} from './projections/run-dag.ts';
export { type EngineStateOf, projectRunStatus } from './projections/run-status.ts';
export { type SessionGate, type SessionHealth, sessionGate } from './projections/session-gate.ts';
export {
  type NodeView,
  projectSession,
  type RunView,
  type SessionView,
  type ViewOptions,
} from './projections/session-view.ts';
export { projectRecovery } from './projections/walk-recovery.ts';
export {
  answersAt,
  latestRecap,
  notesInto,
  type WalkedStep,
  wayBack,
  wayBeyond,
  wayTo,
} from './projections/walked-way.ts';
export { renderPrompt, type ShownStep } from './prompts/prompt.ts';
export type { Recovery, StepNotes } from './prompts/recovery.ts';
export {
  type AdvancePlan,
  type Attempt,
  type DisclosedGap,
  planAdvance,
} from './session/advance-plan.ts';
export { nextAttemptId, nextCheckpointId } from './session/attempts.ts';
export {
  type Blocker,
  type BlockerPointer,
  type BlockerReport,
  type LoopLimit,
  sortBlockers,
} from './session/blockers.ts';
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
export { type BundleError, readBundle } from './session/bundle-reading.ts';
export type { CapabilityProvenance, CapabilityStatus } from './session/capability.ts';
export { type CheckpointPlan, planCheckpoint } from './session/checkpoint-plan.ts';
export { boundTrace } from './session/decision-trace.ts';
export {
  type DedupeKey,
  type DomainEvent,
  type DomainEventKind,
  dedupeKeyOf,
  domainEventV1,
  type EventFacts,
  type EventOf,
} from './session/domain-event.ts';
export type {
  AdvanceOutcome,
  GapAnswer,
  NodeKind,
  ObservationKey,
  ObservationValue,
  OutputChannel,
  OutputPayload,
  TraceEntry,
  TraceRef,
} from './session/event-data.ts';
export { draftOf, type Place, type SessionPlan } from './session/event-draft.ts';
export { sessionEventSchema } from './session/event-schema.ts';
export {
  completedSet,
  deriveIsComplete,
  derivePendingStep,
  type EngineState,
  type ExecutionSnapshotFileV1,
  encodeSnapshot,
  executionSnapshotFileV1,
  type LoopFrame,
} from './session/execution-snapshot.ts';
export {
  type KeyringError,
  type KeyringFile,
  type KeyringFileOptions,
  openKeyringFile,
} from './session/files/keyring-file.ts';
export { nodeMac } from './session/files/node-mac.ts';
export { type AnswerError, type AnswerPlan, planGapAnswer, proposalHash } from './session/gap-answer-plan.ts';
export { historyFault } from './session/history-fault.ts';
export { type AttemptId, type ContextId, type GapId, guidedId, type OutputId, type TraceId } from './session/ids.ts';
export { checkContext, type InvalidInput } from './session/invalid-input.ts';
export { type Keyring, keyNames, keyring, newKeyring, rotateKeyring } from './session/keyring.ts';
export { type Observed, planObservations } from './session/observation-plan.ts';
export type { ArtifactRef, Correction } from './session/output-facts.ts';
export { planPreferences } from './session/preference-plan.ts';
export {
  defaultPreferences,
  exceedsRecommendation,
  loosenedBy,
  modePresets,
  type Preferences,
} from './session/preferences.ts';
export {
  type BlockerCode,
  blockerCode,
  blockerCodeOf,
  type GapReason,
  type NonAssumableChoiceKind,
  type ReasonCode,
  reasonCodeOf,
  reasonCodes,
  type UserOnlyDependencyReason,
} from './session/reasons.ts';
export {
  type InvariantError,
  type RecordedAdvance,
  type RecordedEvents,
  recordedAdvance,
  recordedCheckpoint,
  requireRecordedAdvance,
} from './session/recorded-facts.ts';
export {
  decideRetention,
  decideSnapshotCollection,
  type RetentionDecision,
  retentionDefaults,
  type SessionPins,
  type SnapshotCollection,
  type StoredSession,
} from './session/retention.ts';
export { readManifest } from './session/session-manifest.ts';
export { planStart, type Start, type StartPlan } from './session/start-plan.ts';
export {
  formatStepInstanceKey,
  type LoopTurn,
  parseStepInstanceKey,
  type StepInstance,
  type StepInstanceKey,
} from './session/step-instance-key.ts';
export { nodeOfToken, type PlaceError, samePlace, tokenSessionLocked } from './session/token-place.ts';
export {
  type Mac,
  mintToken,
  readToken,
  type TokenError,
  type TokenKind,
  type TokenOf,
  type TokenPayload,
  tokenPayload,
} from './session/tokens.ts';
export { AHEAD_FILE } from './sources/compiled-ahead.ts';
export { type FileProblem, readWorkflowFile, type WorkflowFile } from './sources/workflow-file.ts';
export {
  bundledPlace,
  compileBundled,
  type Discovery,
  type FoundWorkflow,
  type LibraryOptions,
  type LibraryProblem,
  openWorkflowLibrary,
  type WorkflowLibrary,
  type WorkflowListing,
  type WorkflowPlace,
} from './sources/workflow-library.ts';
