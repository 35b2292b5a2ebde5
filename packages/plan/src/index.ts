export type { ArtifactAccess, ArtifactOptions, TableRow } from './artifacts/artifact-access.ts';
export {
  type PlanContext,
  type QueryAccess,
  type QueryTable,
  queryTables,
  type StateAccess,
  type VolatileAccess,
  type WriteOptions,
} from './context.ts';
export { editUndriven } from './forks/edit-undriven.ts';
export { forkPlan, frameEvent, type PlanFork } from './forks/fork-plan.ts';
export { resetUndriven } from './forks/reset-undriven.ts';
export { editFault } from './forks/state-edit.ts';
export type { CommandAnswer, StateEdit } from './frames/command.ts';
export { endUndriven, stopUndriven, type UndrivenDeed, type UndrivenEnd } from './frames/end-undriven.ts';
export type { PlanRun, PlanRunOptions, RunEnd } from './frames/engine-options.ts';
export type { TraceEntry } from './frames/frame-phase.ts';
export { type FramePhase, framePhases } from './frames/frame-phase.ts';
export type { Timers, TriggerKind } from './frames/frame-scheduler.ts';
export { type PlanPreview, type PreviewOptions, previewPlan } from './frames/preview-plan.ts';
export { runPlan } from './frames/run-plan.ts';
export { type SignalFault, signalFault } from './frames/signals.ts';
export { defaultStormLimits, type StormLimits } from './frames/storm-guard.ts';
export type { StartDoubts, TaskExecutor, TaskOutcome, TaskRequest } from './frames/task-executor.ts';
export type { PlanChild, PlanElement } from './jsx/element.ts';
export { Fragment } from './jsx/element.ts';
export type { CompileCache } from './load/compile-module.ts';
export {
  type ImportClosure,
  type ImportLimit,
  type KeptPlan,
  type LoadedPlan,
  loadKept,
  loadPlan,
} from './load/load-plan.ts';
export {
  Agent,
  type AgentProps,
  Claude,
  Codex,
  Each,
  type EachProps,
  Effect,
  type EffectProps,
  End,
  type EndingProps,
  Gemini,
  Human,
  type HumanProps,
  If,
  type IfProps,
  OpenAI,
  Parallel,
  type ParallelProps,
  Phase,
  type PhaseProps,
  Ralph,
  type RalphProps,
  Step,
  type StepProps,
  Stop,
  SubPlan,
  type SubPlanProps,
  Switch,
  type SwitchProps,
  Task,
  type TaskProps,
  Timer,
  type TimerProps,
  type VendorAgentProps,
  While,
  type WhileProps,
} from './nodes/components.ts';
export type { NodeHandlers, TaskContext, TaskFailure, TaskProgress } from './nodes/handlers.ts';
export { ROOT_ID } from './nodes/node-id.ts';
export { isAgentKind, isRunnableKind, type NodeKind } from './nodes/node-kind.ts';
export { workEntry } from './nodes/node-kinds.ts';
export { lintTree, type PlanLintFinding } from './nodes/plan-lint.ts';
export type { AgentNode, HumanNode, PlanNode, RunnableNode, SubPlanNode, TaskNode } from './nodes/plan-node.ts';
export { type StatusOf, type TreeFault, type TreeNode, treeFromJson, treeToJson } from './nodes/tree-json.ts';
export { treeToXml } from './nodes/tree-xml.ts';
export {
  type AnyPlan,
  definePlan,
  isPlan,
  type PlanDefinition,
  type PlanInput,
  type PlanSignal,
} from './plan-definition.ts';
export {
  EffectLoopError,
  EventValidationError,
  PlanError,
  type PlanErrorCode,
  planFailure,
  RenderPhaseTaskError,
  RenderPhaseWriteError,
  type SourcePosition,
} from './plan-error.ts';
export { outlineOf, type PlanOutline } from './plan-outline.ts';
export type { DifferentRow, ReplayDifference } from './replay/replay-difference.ts';
export { type PlanOfVersion, type ReplayOptions, type ReplayReport, replayRun } from './replay/replay-run.ts';
export { executionSignature } from './structure/execution-signature.ts';
export { type NodeRecord, nodeRecord } from './structure/node-record.ts';
export {
  type FileAccess,
  type FileItem,
  type FileKind,
  type FileMark,
  type FileReader,
  type FileStat,
  MAX_FILE_BYTES,
  type PlanFiles,
} from './workspaces/plan-files.ts';
export type { WorkspaceAccess, WorkspacePlace } from './workspaces/workspace-access.ts';
