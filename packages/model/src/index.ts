export { Bug, unreachable } from './bug.ts';
export { canonicalJson, tryCanonicalJson } from './canonical-json.ts';
export { chainHead, EMPTY_HEAD } from './chain.ts';
export { type Clock, type Timestamp, timestamp, timestampOf } from './clock.ts';
export { type ApprovalResolution, approvalResolution } from './contract/approval.ts';
export {
  type Artifact,
  type ArtifactKind,
  type ArtifactRef,
  artifact,
  artifactKind,
  artifactRef,
  artifactRefOf,
  type DiffMetadata,
  diffMetadata,
} from './contract/artifact.ts';
export { type Edge, edge, edgeDefaults } from './contract/edge.ts';
export {
  RUN_EVENT_VERSION,
  type RunEvent,
  type RunEventType,
  runEvent,
  type SaidEvent,
  type StallEvidence,
  saidEvent,
  stallEvidence,
} from './contract/event.ts';
export { type Handoff, handoff } from './contract/handoff.ts';
export { type Message, message } from './contract/message.ts';
export {
  type Capabilities,
  type Connection,
  type ContractNodeStatus,
  capabilities,
  connection,
  contractNodeStatus,
  type Node,
  type NodePatch,
  node,
  nodePatch,
  type Permissions,
  type Provider,
  permissions,
  provider,
} from './contract/node.ts';
export {
  CONTRACT_VERSION,
  type ContractRunStatus,
  contractRunStatus,
  type GlobalMode,
  globalMode,
  type Run,
  type RunMode,
  type RunPatch,
  type RunPhase,
  run,
  runMode,
  runPatch,
  runPhase,
} from './contract/run.ts';
export { type ToolCall, type ToolError, type ToolResult, toolCall, toolError, toolResult } from './contract/tool.ts';
export { type Digest, digest, digestHex, digestOf, type Hasher, portableHasher } from './digest.ts';
export {
  type ErrorCode,
  type ErrorDomain,
  type ErrorEnvelope,
  errorCodes,
  errorEnvelope,
  failure,
  type Retry,
  retry,
} from './error-envelope.ts';
export {
  type AnyId,
  type ApprovalId,
  type ArtifactId,
  approvalId,
  artifactId,
  createIdSource,
  deriveId,
  type EdgeId,
  type EventId,
  edgeId,
  eventId,
  type IdSource,
  type MessageId,
  messageId,
  type NodeId,
  nodeId,
  type PayloadId,
  payloadId,
  type RunId,
  runId,
  type SessionId,
  sessionId,
  type ToolId,
  toolId,
} from './ids.ts';
export { JSON_MAX_DEPTH, type Json, type JsonObject, json, jsonObject, text } from './json.ts';
export { type Err, err, type Ok, ok, type Result } from './result.ts';
export type { Rng } from './rng.ts';
export { cutAtWord, cutFiltered } from './secrets/cut-text.ts';
export {
  type KnownSecret,
  knownSecret,
  knownSecretOf,
  type SecretMac,
  SHORTEST_SECRET,
} from './secrets/known-secret.ts';
export {
  createSecretFilter,
  isCertainlyClean,
  redactionMark,
  type SecretFilter,
  type SecretFilterOptions,
} from './secrets/secret-filter.ts';
export { createSecretStream, type SecretStream } from './secrets/secret-stream.ts';
export { type TokenShape, tokenShapes } from './secrets/token-shapes.ts';
export {
  type NodeStatus,
  nodeStatus,
  type TaskStatus,
  taskStatus,
  toContractNodeStatus,
} from './status/node-status.ts';
export {
  type GuidedRunStatus,
  guidedRunStatus,
  guidedToContractRunStatus,
  type RunStatus,
  runStatus,
  toContractRunStatus,
} from './status/run-status.ts';
export { thrownMessage, thrownStack, thrownText } from './thrown.ts';
export { TRUNCATION_MARKER, truncateUtf8, utf8Bytes, utf8Length } from './utf8.ts';
export {
  type ArtifactList,
  artifactList,
  artifactsQuery,
  type WireArtifact,
  type WorkspaceDiff,
  wireArtifact,
  workspaceDiff,
} from './wire/artifacts.ts';
export { type ImportBody, type ImportReport, importBody, importReport } from './wire/bundles.ts';
export {
  type AnswerBody,
  answerBody,
  type DecisionList,
  decisionList,
  type WireDecision,
  type WireResolution,
  wireDecision,
  wireResolution,
} from './wire/decisions.ts';
export {
  type CheckpointList,
  checkpointList,
  type EditBody,
  type EditOp,
  editBody,
  editOp,
  type ForkBody,
  forkBody,
  type Lineage,
  lineage,
  type RerunBody,
  type RetryBody,
  type RollbackBody,
  type RollbackReport,
  rerunBody,
  retryBody,
  rollbackBody,
  rollbackReport,
  type UndoBody,
  type UndoReport,
  undoBody,
  undoReport,
  type WireCheckpoint,
  type WirePolicy,
  wireCheckpoint,
  wirePolicy,
} from './wire/forks.ts';
export { type Health, health } from './wire/health.ts';
export {
  type ChunkList,
  chunkList,
  type EventList,
  eventList,
  type FrameList,
  type FrameState,
  frameList,
  frameState,
  storedEvent,
  type TaskList,
  type TransitionList,
  taskList,
  transitionList,
  type WireChunk,
  type WireEvent,
  type WireFrame,
  type WireStoredEvent,
  type WireTransition,
  wireChunk,
  wireEvent,
  wireFrame,
  wireTransition,
} from './wire/history.ts';
export {
  type NodeInput,
  nodeInput,
  type WireTool,
  type WireToolPolicy,
  wireTool,
  wireToolPolicy,
} from './wire/node-input.ts';
export {
  type PlanDescription,
  type PlanList,
  planDescription,
  planFileQuery,
  planList,
  plansQuery,
  type WirePlan,
  wirePlan,
} from './wire/plans.ts';
export {
  type ProviderBrief,
  type ProviderHealth,
  type ProviderList,
  type ProviderReference,
  providerList,
  type RateLimitWindow,
  type WireModel,
  type WireProvider,
} from './wire/providers.ts';
export { type RecoveryList, type RecoveryNote, recoveryList, recoveryNote } from './wire/recoveries.ts';
export {
  type RedactionBody,
  type RedactionReport,
  redactionBody,
  redactionReport,
} from './wire/redaction.ts';
export {
  cursor,
  decisionsQuery,
  type EventView,
  emptyBody,
  eventsQuery,
  eventView,
  listQuery,
  pageQuery,
  type ResumeBody,
  resumeBody,
  runsQuery,
  type SignalBody,
  type StartBody,
  type StopBody,
  signalBody,
  startBody,
  stateQuery,
  stopBody,
  tasksQuery,
  transitionsQuery,
} from './wire/requests.ts';
export { type CollectBody, type CollectReport, collectBody, collectReport } from './wire/retention.ts';
export {
  defectWords,
  type ReplayBody,
  type ReplayedRow,
  type ReplayedRun,
  type ReplayReport,
  type RunCheck,
  replayBody,
  replayedRow,
  replayedRun,
  replayReport,
  runCheck,
  type VerifyBody,
  verifyBody,
} from './wire/run-checks.ts';
export {
  type FrameTree,
  frameTree,
  type RunOutline,
  type RunSnapshot,
  runOutline,
  runSnapshot,
  type TreeNode,
  treeNode,
  type WireTask,
  wireTask,
} from './wire/run-snapshot.ts';
export {
  type GuidedFacts,
  guidedFacts,
  type RunKind,
  type RunList,
  type RunSummary,
  runKind,
  runList,
  runSummary,
  type WireFault,
  type WireLimits,
  type WireRecord,
  wireFault,
  wireLimits,
  wireRecord,
} from './wire/run-summary.ts';
export {
  type GapAnswerBody,
  gapAnswerBody,
  type SessionDetail,
  type SessionGap,
  type SessionList,
  type SessionNode,
  type SessionRun,
  type SessionSummary,
  type StartedSession,
  type StartSessionBody,
  sessionDetail,
  sessionGap,
  sessionList,
  sessionNode,
  sessionRun,
  sessionSummary,
  startedSession,
  startSessionBody,
  type WorkflowDetail,
  type WorkflowList,
  workflowDetail,
  workflowList,
} from './wire/sessions.ts';
export {
  type SettingItem,
  type SettingSource,
  type Settings,
  settings,
  type ToolPolicy,
} from './wire/settings.ts';
export { type ClientMessage, clientMessage, closeCodes, type ServerMessage, serverMessage } from './wire/socket.ts';
export { type StorageReason, type StorageStanding, storageReason, storageStanding } from './wire/storage.ts';
export { type SpendingList, spendingList, spendingQuery, type WireSpending, wireSpending } from './wire/usage.ts';
export {
  type AddedUser,
  type AddUserBody,
  addedUser,
  addUserBody,
  type Login,
  login,
  loginBody,
  type OneTimeLink,
  oneTimeLink,
  type RotateUserBody,
  rotateUserBody,
  type UserList,
  type UserRole,
  userList,
  userRole,
  usersQuery,
  type WireUser,
  wireUser,
} from './wire/users.ts';
export { type WorkflowForms, workflowForms, workflowFormsQuery } from './wire/workflow-forms.ts';
