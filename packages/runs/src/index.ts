export { type ArtifactRecord, artifactRecord } from './artifacts/artifact-record.ts';
export type { BlobError, Blobs } from './blobs.ts';
export {
  type Commit,
  type CommitError,
  type Committed,
  type Guard,
  guard,
  type RunWrite,
  type WriteSet,
  writeSet,
} from './commit.ts';
export {
  type Decision,
  type DecisionKind,
  type DecisionWrite,
  decision,
  decisionKind,
  type Resolution,
  resolution,
} from './decisions/decision.ts';
export {
  INTERNAL_EVENT_VERSION,
  type InternalEvent,
  type InternalEventType,
  internalEvent,
} from './events/internal-event.ts';
export { type AnyEvent, anyEvent, type EventDraft, placeEvents, type StoredEvent } from './events/stored-event.ts';
export { type Change, change, type Maybe, type PatchStep } from './frames/change.ts';
export { type Frame, type FrameTrigger, frame } from './frames/frame.ts';
export { type IntervalSpace, type IntervalWrite, intervalSpace, intervalWrite } from './frames/interval.ts';
export { type Transition, transition } from './frames/transition.ts';
export {
  contractNodeId,
  decisionIdOf,
  type NodeKey,
  nodeKey,
  type OwnerId,
  ownerId,
  type TaskId,
  taskId,
  taskIdOf,
} from './ids.ts';
export type {
  ArtifactFilter,
  CommitNotice,
  DecisionFilter,
  DecisionOfRun,
  Orphan,
  Page,
  RunFeed,
  RunFilter,
  RunReader,
  TaskFilter,
  TransitionFilter,
  TransitionPlace,
  TransitionView,
} from './reader.ts';
export {
  type NewRun,
  newRun,
  type RunChange,
  type RunOrigin,
  type RunRecord,
  type RunSource,
  runChange,
  runRecord,
} from './run/run-record.ts';
export { type Task, task } from './tasks/task.ts';
export { type ErrorClass, errorClass, type TaskError, taskError } from './tasks/task-error.ts';
export { type StopConditions, stopConditions } from './usage/stop-conditions.ts';
export { type UsageRecord, type UsageTotal, usageRecord } from './usage/usage.ts';
