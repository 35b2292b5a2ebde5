export {
  bringBackKept,
  type KeptBroughtBack,
  type KeptCall,
  type NothingKeptError,
  nothingKept,
} from './checkpoints/bring-back-kept.ts';
export type { CallChanges } from './checkpoints/call-changes.ts';
export { type CheckpointLog, createMemoryCheckpointLog, openHostCheckpointLog } from './checkpoints/checkpoint-log.ts';
export {
  CHECKPOINTS_KEPT,
  type CheckpointError,
  type CheckpointStore,
  createCheckpointStore,
  openCheckpointStore,
  type ToolCheckpoint,
} from './checkpoints/checkpoint-store.ts';
export { type Fork, type ForkFailedError, forkAt } from './checkpoints/fork-at.ts';
export {
  type CheckpointUnknownError,
  checkpointUnknown,
  type RollbackReport,
  rollbackToTool,
  type ToolPhase,
} from './checkpoints/rollback-to-tool.ts';
export {
  type CallUndo,
  callChanges,
  type LaterCall,
  type NothingToUndoError,
  putFiles,
  treeAt,
  undoCall,
} from './checkpoints/undo-call.ts';
export { type CallInRoot, type RootUndo, undoCalls } from './checkpoints/undo-calls.ts';
export {
  type ContentError,
  ContentFault,
  type ContentStore,
  createMemoryContentStore,
} from './filesystem/content-store.ts';
export {
  type FileEntry,
  type FileError,
  type Files,
  type Filesystem,
  type FilesystemSnapshot,
  filesystem,
} from './filesystem/filesystem.ts';
export { type ForbiddenPlaces, forbiddenPlaces, realDirectory } from './filesystem/forbidden-places.ts';
export { openHostContentStore } from './filesystem/host-content-store.ts';
export { type FileWriter, type HostFiles, nodeHostFiles } from './filesystem/host-files.ts';
export {
  DEFAULT_OPAQUE,
  type HostFilesystem,
  type HostFilesystemOptions,
  openHostFilesystem,
} from './filesystem/host-filesystem.ts';
export { type Confinement, type HostPath, hostPath } from './filesystem/host-path.ts';
export type { KeptBook, KeptEntry } from './filesystem/kept-book.ts';
export { createMemoryFilesystem } from './filesystem/memory-filesystem.ts';
export {
  createPathLocks,
  type LockError,
  type LockMode,
  type PathLocks,
  type Release,
} from './filesystem/path-locks.ts';
export { type Recovery, recoverPending } from './filesystem/recovery.ts';
export { openToRead, replaceFile } from './filesystem/regular-file.ts';
export { type RootIdentity, rootAt, rootIdentity } from './filesystem/root-identity.ts';
export { type DirectoryNode, sameNode, type TreeNode } from './filesystem/tree.ts';
export { loadTree, type TreeError } from './filesystem/tree-codec.ts';
export { createMemoryUndoLog, openHostUndoLog, type UndoLog, type UndoRecord } from './filesystem/undo-log.ts';
export { findLayers } from './layers/find-layers.ts';
export { type HeldChanges, type HeldChoice, heldChoice, heldIn, isRootMoved } from './layers/held-changes.ts';
export {
  type Layer,
  type LayerEntry,
  LayerRefused,
  type Layers,
  type NoLayerError,
  OtherLayerNeeded,
} from './layers/layer.ts';
export type { LayerChange, LayerConflict } from './layers/layer-change.ts';
export { probeLayers } from './layers/probe-layers.ts';
export { type ProgramAnswer, type ProgramOptions, runProgram } from './programs/run-program.ts';
export { systemPath, systemProgram } from './programs/system-programs.ts';
export { AGENT_LIMITS, type CommandLimits, DEFAULT_LIMITS, describeLimit } from './sandbox/command-limits.ts';
export type {
  CommandSandbox,
  ConfinedCommand,
  InteractiveCommand,
  SandboxMissingError,
} from './sandbox/command-sandbox.ts';
export { type CommandView, type ReadablePlace, viewOf } from './sandbox/command-view.ts';
export { isCredentialPlace } from './sandbox/credentials.ts';
export { detectSandbox, type SandboxDetection } from './sandbox/detect-sandbox.ts';
export { type InteractiveProcess, openInGroup } from './sandbox/interactive-process.ts';
export { findProcess, type ProcessIdentity } from './sandbox/process-identity.ts';
export type { CommandEnd, RunningCommand } from './sandbox/running-command.ts';
export {
  NO_RULES,
  type ProjectRules,
  readSandboxRules,
  SANDBOX_FILE,
  type SandboxRules,
  type SandboxRulesError,
  sandboxRules,
} from './sandbox/sandbox-rules.ts';
export { openJsonlBackend } from './session/jsonl-backend.ts';
export { createSession, type RollbackOptions, type Session, type SessionOptions } from './session/session.ts';
export {
  type RollbackError,
  type SessionSnapshot,
  type SnapshotOptions,
  sessionSnapshot,
} from './session/session-snapshot.ts';
export type { SessionTransaction } from './session/session-transaction.ts';
export type { SessionView, SliceHandle } from './session/session-view.ts';
export {
  append,
  clear,
  defineEvent,
  defineSlice,
  extend,
  type Reducer,
  replace,
  type SessionEvent,
  type Slice,
  type SliceOperation,
} from './session/slice.ts';
export { memoryBackend, type SliceBackend } from './session/slice-backend.ts';
export { defaultPolicy, type SlicePolicy, slicePolicy } from './session/slice-policy.ts';
export type { DispatchError } from './session/slice-store.ts';
export { type ToolInvocation, toolInvocation, toolInvoked } from './session/tool-invoked.ts';
export { type TranscriptEntry, transcript, transcriptEntry } from './session/transcript.ts';
export {
  type CompositeSnapshot,
  type SnapshotMetadata,
  snapshotFromJson,
  snapshotsEquivalent,
  snapshotToJson,
} from './snapshots/composite-snapshot.ts';
export { createExecutionState, type ExecutionState, type ExecutionStateOptions } from './snapshots/execution-state.ts';
export {
  createResources,
  defineResource,
  type ResourceEntry,
  type ResourceKey,
  type Resources,
  resource,
} from './snapshots/resources.ts';
export type {
  ConflictError,
  DiskReport,
  RestoreFailedError,
  SnapshotMismatchError,
  StateError,
} from './snapshots/snapshot-error.ts';
export type { CaptureOptions, KeptFiles, Snapshotable, StagedRestore, StageOptions } from './snapshots/snapshotable.ts';
export { type RestoreReport, restoreAll } from './snapshots/two-phase-restore.ts';
export { editFile, readFile, writeFile } from './tools/at-hand/file-tools.ts';
export { createRunCommand, type RunCommandOptions, runCommand } from './tools/at-hand/run-command.ts';
export { globFiles, grepFiles, listFiles } from './tools/at-hand/search-tools.ts';
export { type HeldCallError, heldCall, settleHeldCall } from './tools/held-call.ts';
export { machineTimers, type Timers } from './tools/timers.ts';
export {
  type AnyTool,
  DeadlineExceededError,
  defineTool,
  fail,
  succeed,
  type Tool,
  type ToolContext,
  type ToolEffects,
  type ToolReply,
  type ToolRisk,
  ToolValidationError,
  VisibilityExpansionRequired,
} from './tools/tool.ts';
export type { PromptEvaluationError, Rollback, ToolFailure, ToolOutcome } from './tools/tool-outcome.ts';
export { isAllowed, needsApproval } from './tools/tool-permission.ts';
export type { ToolPolicy } from './tools/tool-policy.ts';
export {
  createToolRunner,
  type ProviderToolCall,
  type ToolRunner,
  type ToolRunnerOptions,
} from './tools/tool-runner.ts';
