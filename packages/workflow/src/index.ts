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
export { blockerReportOf, type Gap as DisclosedReason, gapsOf, type Reason } from './interpret/reason.ts';
export type { ReportedNeed, UserAnswer } from './interpret/user-dependency.ts';
export { renderPrompt, type ShownStep } from './prompts/prompt.ts';
export type { Recovery, StepNotes } from './prompts/recovery.ts';
export {
  type Blocker,
  type BlockerPointer,
  type BlockerReport,
  type LoopLimit,
  sortBlockers,
} from './session/blockers.ts';
export { budgets } from './session/bounded-text.ts';
export type { CapabilityProvenance, CapabilityStatus } from './session/capability.ts';
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
export type { AttemptId, ContextId, GapId, OutputId } from './session/ids.ts';
export { defaultPreferences, modePresets, type Preferences } from './session/preferences.ts';
export {
  type BlockerCode,
  blockerCodeOf,
  type GapReason,
  type NonAssumableChoiceKind,
  type ReasonCode,
  reasonCodeOf,
  type UserOnlyDependencyReason,
} from './session/reasons.ts';
export {
  formatStepInstanceKey,
  type LoopTurn,
  parseStepInstanceKey,
  type StepInstance,
  type StepInstanceKey,
} from './session/step-instance-key.ts';
export {
  bundledPlace,
  type Discovery,
  type FoundWorkflow,
  type LibraryOptions,
  type LibraryProblem,
  openWorkflowLibrary,
  type WorkflowLibrary,
  type WorkflowListing,
  type WorkflowPlace,
} from './sources/workflow-library.ts';
