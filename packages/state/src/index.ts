export {
  bringBackKept,
  type KeptBroughtBack,
  nothingKept,
} from './checkpoints/bring-back-kept.ts';
export type { CallChanges } from './checkpoints/call-changes.ts';
export { type CheckpointLog, openHostCheckpointLog } from './checkpoints/checkpoint-log.ts';
export {
  CHECKPOINTS_KEPT,
  type CheckpointStore,
  createCheckpointStore,
  openCheckpointStore,
  type ToolCheckpoint,
} from './checkpoints/checkpoint-store.ts';
export { forkAt } from './checkpoints/fork-at.ts';
export { checkpointsFrom, innerCheckpoints, withoutInner } from './checkpoints/inner-checkpoints.ts';
export {
  checkpointUnknown,
  rollbackToTool,
} from './checkpoints/rollback-to-tool.ts';
export {
  type CallUndo,
  callChanges,
  type LaterCall,
  putFiles,
  treeAt,
  undoCall,
} from './checkpoints/undo-call.ts';
export { type CallInRoot, undoCalls } from './checkpoints/undo-calls.ts';
export {
  type ContentStore,
  createMemoryContentStore,
} from './filesystem/content-store.ts';
export {
  type Filesystem,
  type FilesystemSnapshot,
  filesystem,
} from './filesystem/filesystem.ts';
export { type ForbiddenPlaces, forbiddenPlaces, realDirectory } from './filesystem/forbidden-places.ts';
export { openHostContentStore } from './filesystem/host-content-store.ts';
export { type HostFiles, nodeHostFiles } from './filesystem/host-files.ts';
export {
  DEFAULT_OPAQUE,
  type HostFilesystem,
  type HostFilesystemOptions,
  openHostFilesystem,
} from './filesystem/host-filesystem.ts';
export { type HostPath, hostPath } from './filesystem/host-path.ts';
export type { KeptBook } from './filesystem/kept-book.ts';
export { createMemoryFilesystem } from './filesystem/memory-filesystem.ts';
export {
  createPathLocks,
  type LockError,
  type LockMode,
  type PathLocks,
} from './filesystem/path-locks.ts';
export { type Recovery, recoverPending } from './filesystem/recovery.ts';
export { openToRead, replaceFile } from './filesystem/regular-file.ts';
export { removeTree } from './filesystem/remove-tree.ts';
export { type RootIdentity, rootAt, rootIdentity } from './filesystem/root-identity.ts';
export { type DirectoryNode, sameNode, type TreeNode } from './filesystem/tree.ts';
export { loadTree } from './filesystem/tree-codec.ts';
export { createMemoryUndoLog, openHostUndoLog } from './filesystem/undo-log.ts';
export type { GitProgram } from './git/git-programs.ts';
export { programWords } from './git/program-words.ts';
export { findLayers, layersOrCopies } from './layers/find-layers.ts';
export { HELD, type HeldChanges, type HeldChoice, heldChoice, heldIn, isRootMoved } from './layers/held-changes.ts';
export { INNER, type InnerCalls, type InnerEnd } from './layers/inner-calls.ts';
export {
  type LayerEntry,
  LayerRefused,
  type Layers,
  OtherLayerNeeded,
} from './layers/layer.ts';
export { probeLayers } from './layers/probe-layers.ts';
export { runProgram } from './programs/run-program.ts';
export { systemPath, systemProgram } from './programs/system-programs.ts';
export { AGENT_LIMITS, type CommandLimits, DEFAULT_LIMITS, describeLimit } from './sandbox/command-limits.ts';
export type {
  CommandSandbox,
  InteractiveCommand,
  SandboxMissingError,
} from './sandbox/command-sandbox.ts';
export { harmlessEnv } from './sandbox/command-sandbox.ts';
export { type ReadablePlace, viewOf } from './sandbox/command-view.ts';
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
  type SandboxRulesError,
  sandboxRules,
} from './sandbox/sandbox-rules.ts';
export { createSession } from './session/session.ts';
export {
  append,
  defineEvent,
  defineSlice,
  replace,
} from './session/slice.ts';
export { createExecutionState, type ExecutionState } from './snapshots/execution-state.ts';
export {
  createResources,
  type ResourceEntry,
  resource,
} from './snapshots/resources.ts';
export type { KeptFiles } from './snapshots/snapshotable.ts';
export { restoreAll } from './snapshots/two-phase-restore.ts';
export { editFile, readFile, writeFile } from './tools/at-hand/file-tools.ts';
export { createRunCommand } from './tools/at-hand/run-command.ts';
export { globFiles, grepFiles, listFiles } from './tools/at-hand/search-tools.ts';
export { heldCall, heldCallNow, settleHeldCall } from './tools/held-call.ts';
export { checkHeldCall, type HeldCheck } from './tools/held-check.ts';
export { machineTimers, type Timers } from './tools/timers.ts';
export {
  type AnyTool,
  defineTool,
  fail,
  succeed,
  type ToolContext,
  type ToolEffects,
  type ToolReply,
  type ToolRisk,
  VisibilityExpansionRequired,
} from './tools/tool.ts';
export type { ToolOutcome } from './tools/tool-outcome.ts';
export { isAllowed, needsApproval } from './tools/tool-permission.ts';

export {
  createToolRunner,
  type ToolRunner,
  type ToolRunnerOptions,
} from './tools/tool-runner.ts';
