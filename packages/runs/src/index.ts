export {
  type AgentMessage,
  agentMessage,
  type HeardMessages,
  heardMessages,
  messageWords,
  unheardMessages,
} from './agents/agent-message.ts';
export type {
  AgentOutcome,
  AgentQuestion,
  AgentRunner,
  AgentSession,
  Assignment,
  CallAdmission,
  CallLog,
  CallOfModel,
  McpServerOffer,
} from './agents/agent-runner.ts';
export { HALT } from './agents/agent-runner.ts';
export {
  type OwnToolAnswer,
  type OwnToolCall,
  type OwnToolDefinition,
  type OwnToolEffect,
  type OwnToolOperation,
  type OwnToolPort,
  type OwnToolReply,
  ownToolDefinition,
  ownToolReply,
} from './agents/own-tools.ts';
export {
  type DecisionReply,
  type DecisionRequest,
  decisionRequest,
  type TurnOffer,
  type TurnSurface,
  type TurnTools,
} from './agents/turn-tools.ts';
export {
  type ArtifactDraft,
  type ArtifactInput,
  draftArtifact,
} from './artifacts/artifact-draft.ts';
export { type ArtifactRecord, artifactRecord, INLINE_MAX_BYTES } from './artifacts/artifact-record.ts';
export { safeImageTypes } from './artifacts/image-type.ts';
export { keepArtifact } from './artifacts/keep-artifact.ts';
export { type ArtifactPorts, publishArtifact } from './artifacts/publish-artifact.ts';
export type { BlobError, Blobs } from './blobs.ts';
export {
  type ArchivePart,
  type ArchiveRow,
  archiveParts,
  archiveRow,
} from './bundles/archive-row.ts';
export { importAsNew } from './bundles/import-as-new.ts';
export type { RestoreError, RunArchive, RunRestore } from './bundles/run-archive.ts';
export type {
  Commit,
  CommitError,
  Committed,
  Guard,
  RunWrite,
  WriteSet,
} from './commit.ts';
export { checkCommit } from './commit-check.ts';
export {
  type CommitView,
  type IntervalRow,
  type LastValue,
  type Outcome,
  planCommit,
  refused,
  replayRecord,
  runAfter,
  type TransitionRow,
} from './commit-plan.ts';
export {
  type Decision,
  type DecisionKind,
  decision,
} from './decisions/decision.ts';

export { factsOfEvent, isReplayedEvent, isShownEvent } from './events/event-facts.ts';
export {
  type InternalEvent,
  type InternalEventType,
  internalEvent,
} from './events/internal-event.ts';
export { eventType, isShort, type KeptEvent, keptEvents } from './events/kept-event.ts';
export { type AnyEvent, anyEvent, type EventDraft, eventDraftOf, type StoredEvent } from './events/stored-event.ts';
export { createFeed } from './feed.ts';
export { INHERITED } from './forks/inheritance.ts';
export { type Change, type Maybe, type PatchStep, patchStep } from './frames/change.ts';
export { type Frame, type FrameTrigger, frame } from './frames/frame.ts';
export { type IntervalSpace, type IntervalWrite, intervalSpace } from './frames/interval.ts';
export { areKnownSteps } from './frames/quick-steps.ts';
export { type Transition, transition } from './frames/transition.ts';
export { applyChange, changeBetween, replayPatches } from './frames/value-change.ts';
export {
  contractNodeId,
  decisionIdOf,
  inheritedTaskId,
  type NodeKey,
  nodeKey,
  type OwnerId,
  ownerId,
  subPlanRunId,
  type TaskId,
  taskId,
  taskIdOf,
} from './ids.ts';
export type { BodyRewrite, RewrittenRecord } from './log/body-rewrite.ts';
export { type OpenRecord, openForeignRecord, openHeader, openRecord } from './log/open-record.ts';
export type {
  Beginning,
  HeldValue,
  LogRecord,
  RecordBody,
  RecordHeader,
} from './log/record.ts';
export { digestsIn, mentionedBlobs, neededBlobs } from './log/record-blobs.ts';
export { recordEvents } from './log/record-events.ts';
export { type SealPorts, sealBody, sealRecord } from './log/seal-record.ts';
export { type AwayCheck, awayCheck, type TakenAway, type TakingAway } from './log/taken-away.ts';
export { type MemoryRuns, memoryRuns } from './memory/memory-runs.ts';
export {
  type ProjectRow,
  planProjectCommit,
  projectAfter,
  refusedByProject,
} from './projects/project-commit.ts';
export type {
  KeptState,
  PlacedThing,
  ProjectLog,
  ProjectReader,
  ThingFilter,
} from './projects/project-log.ts';
export {
  type OpenProjectRecord,
  openProjectHeader,
  openProjectRecord,
  type ProjectDraft,
  type Thing,
  thingKind,
} from './projects/project-record.ts';
export { redactingProjects } from './projects/redacting-projects.ts';
export {
  type CallReport,
  healthOfModel,
  healthOfProvider,
  type LimitWindow,
  type ModelStanding,
  openWindows,
  recordCall,
  type Standings,
} from './rate-limits/model-standing.ts';
export {
  admitCall,
  closedUntil,
  closeWindow,
  keyOfModel,
  type ModelName,
  openRateLimits,
  releaseCall,
} from './rate-limits/rate-limits.ts';
export type {
  CommitNotice,
  DecisionOfRun,
  Page,
  RunFeed,
  RunFilter,
  RunReader,
  TransitionFilter,
  TransitionPlace,
  TransitionView,
} from './reader.ts';
export { DEFAULT_PAGE } from './reader.ts';
export { collapseBodies } from './retention/collapse-bodies.ts';
export { type FrameRange, isInRanges, rangesBetween } from './retention/frame-range.ts';
export { keptFrames } from './retention/kept-frames.ts';
export { planRetention, type RetainedRun, type RetentionPlan } from './retention/plan-retention.ts';
export { DEFAULT_RETENTION, type RetentionPolicy, retentionPolicy } from './retention/retention-policy.ts';
export { isSamePlan, planSources, planVersionOf } from './run/plan-versions.ts';
export { isUsualRun } from './run/quick-run.ts';
export { hasRunEnded, mayRunFollow } from './run/run-lifecycle.ts';
export {
  type NewRun,
  type RunChange,
  type RunOrigin,
  type RunRecord,
  type RunSource,
  type RunWorkspace,
  runRecord,
} from './run/run-record.ts';
export { ownWords } from './secrets/own-words.ts';
export { redactLog } from './secrets/redact-log.ts';
export { redactBody, redactingCommit } from './secrets/redact-writes.ts';
export { type StreamChunk, streamChunk } from './stream/stream-chunk.ts';
export { classifyFailure, type FailureFacts } from './tasks/error-class.ts';
export {
  type FormerOwner,
  forgetDeaths,
  MAX_OWNER_DEATHS,
  type OrphanAction,
  type OrphanPolicy,
  ownerDeathsOf,
  recoverOrphan,
} from './tasks/orphan-policy.ts';
export { releaseTask } from './tasks/release-task.ts';
export { isRepairable } from './tasks/repairable.ts';
export {
  DEFAULT_BACKOFF_MS,
  decideRetry,
  dueAt,
  HELD_BACK,
  type RetryGrowth,
  retryWaitMs,
} from './tasks/retry.ts';
export { type RetryPolicy, retryPolicy } from './tasks/retry-policy.ts';
export { type Task, task } from './tasks/task.ts';
export type {
  OwnerDeath,
  TaskError,
} from './tasks/task-error.ts';
export { cancelTask, failTask, finishTask, isTaskUnderWay, startTask } from './tasks/task-lifecycle.ts';
export { type RunSpent, type Spending, type SpendingFilter, sumSpending } from './usage/spending.ts';
export {
  type Allowance,
  type Budgeted,
  budgetKey,
  type CallEstimate,
  type Ceiling,
  checkRoom,
  checkStop,
  type LimitName,
  NO_USAGE,
  type ReachedLimit,
  type StopVerdict,
} from './usage/stop-check.ts';
export type { StopConditions } from './usage/stop-conditions.ts';
export { type UsageRecord, type UsageTotal, usageRecord } from './usage/usage.ts';
export { chunksOf, eventsBefore, eventsOf, everyArtifact, everyRun, transitionsIn } from './whole-lists.ts';
