export type {
  PlanContext,
  StateAccess,
  VolatileAccess,
} from './context.ts';
export { planPosition } from './errors/stack-frames.ts';
export { thrownPlace } from './errors/thrown-place.ts';
export type { FailedAttempt } from './failures/attempt-error.ts';
export { type Duration, durationMs } from './failures/duration.ts';
export { Retryable, Terminal } from './failures/verdicts.ts';
export { editUndriven } from './forks/edit-undriven.ts';
export { forkPlan, type PlanFork } from './forks/fork-plan.ts';
export { resetUndriven } from './forks/reset-undriven.ts';
export { editFault } from './forks/state-edit.ts';
export type { CommandAnswer, StateEdit } from './frames/command.ts';
export { endUndriven, stopUndriven, type UndrivenDeed, type UndrivenEnd } from './frames/end-undriven.ts';
export type { PlanRun, PlanRunOptions, RunEnd } from './frames/engine-options.ts';
export type { TraceEntry } from './frames/frame-phase.ts';
export type { Timers } from './frames/frame-scheduler.ts';
export { type PlanPreview, previewPlan } from './frames/preview-plan.ts';
export { runPlan } from './frames/run-plan.ts';
export { type SignalFault, signalFault } from './frames/signals.ts';
export type { StartDoubts, TaskExecutor, TaskOutcome, TaskRequest } from './frames/task-executor.ts';
export type { PlanChild, PlanElement } from './jsx/element.ts';
export { Fragment } from './jsx/element.ts';
export type { CompileCache } from './load/compile-module.ts';
export {
  type ImportClosure,
  type ImportLimit,
  type LoadedPlan,
  loadKept,
  loadPlan,
} from './load/load-plan.ts';
export { builtinToolNames } from './nodes/builtin-tools.ts';
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
  Keep,
  type KeepAttempt,
  type KeepProps,
  type Kept,
  type McpServer,
  OpenAI,
  Parallel,
  type ParallelProps,
  Phase,
  type PhaseProps,
  Ralph,
  type RalphProps,
  Recover,
  type RecoverProps,
  type RetryProps,
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
export type { TaskContext, TaskFailure, TaskProgress } from './nodes/handlers.ts';
export { editableInput, editNode, type NodeEdit } from './nodes/node-edit.ts';
export { ROOT_ID } from './nodes/node-id.ts';
export { isAgentKind, isRunnableKind, type NodeKind } from './nodes/node-kind.ts';
export { workEntry } from './nodes/node-kinds.ts';
export type { AgentNode, HumanNode, KeepNode, RunnableNode } from './nodes/plan-node.ts';
export type { TreeNode } from './nodes/tree-json.ts';
export { treeToXml } from './nodes/tree-xml.ts';
export { KEEP_NONE } from './nodes/work-kinds.ts';
export {
  type AnyPlan,
  definePlan,
  type PlanDefinition,
  type PlanInput,
} from './plan-definition.ts';
export {
  PlanError,
  planFailure,
} from './plan-error.ts';
export { outlineOf, type PlanOutline } from './plan-outline.ts';
export { isRendering, notePastRead } from './render/tracked.ts';
export { unrecordedReads } from './replay/recorded-reads.ts';
export type { DifferentRow } from './replay/replay-difference.ts';
export { type PlanOfVersion, type ReplayReport, replayRun } from './replay/replay-run.ts';
export { executionSignature } from './structure/execution-signature.ts';
export { type NodeRecord, nodeRecord } from './structure/node-record.ts';
export {
  type CallFiles,
  isOwnTool,
  type OwnTool,
  runOwnTool,
  type ToolCallContext,
  type ToolDefinition,
  tool,
} from './tools/own-tool.ts';
export {
  type FileItem,
  type FileKind,
  MAX_FILE_BYTES,
  type PlanFiles,
} from './workspaces/plan-files.ts';
export type { WorkspaceAccess } from './workspaces/workspace-access.ts';
