export { Bug, unreachable } from './bug.ts';
export { canonicalJson, tryCanonicalJson } from './canonical-json.ts';
export { chainHead, EMPTY_HEAD } from './chain.ts';
export { type Clock, type Timestamp, timestamp, timestampOf } from './clock.ts';
export { type ApprovalResolution, approvalResolution } from './contract/approval.ts';
export {
  type Artifact,
  type ArtifactKind,
  artifact,
  artifactKind,
  artifactRefOf,
  type DiffMetadata,
  diffMetadata,
} from './contract/artifact.ts';
export { type Edge, edge } from './contract/edge.ts';
export {
  RUN_EVENT_VERSION,
  type RunEvent,
  type RunEventType,
  runEvent,
  type SaidEvent,
  type StallEvidence,
  saidEvent,
} from './contract/event.ts';
export { type Handoff, handoff } from './contract/handoff.ts';
export { type Message, message } from './contract/message.ts';
export {
  contractNodeStatus,
  type Node,
  type NodePatch,
  node,
  provider,
} from './contract/node.ts';
export {
  CONTRACT_VERSION,
  contractRunStatus,
  type GlobalMode,
  globalMode,
  type Run,
  type RunPatch,
  type RunPhase,
  run,
  runMode,
  runPhase,
} from './contract/run.ts';
export { type ToolCall, toolCall, toolResult } from './contract/tool.ts';
export { defined } from './defined.ts';
export { type Digest, digest, digestHex, digestOf, type Hasher, portableHasher } from './digest.ts';
export {
  type ErrorCode,
  type ErrorDomain,
  type ErrorEnvelope,
  errorCodes,
  errorEnvelope,
  failure,
  type Retry,
} from './error-envelope.ts';
export {
  ADAPTER_EVENT_MAX_BYTES,
  type AdapterEvent,
  adapterEvent,
  type EventEnvelope,
  type EventFilter,
  type EventValidationResult,
  eventEnvelope,
  eventFilter,
  eventValidationResult,
  type ReplayRequest,
  replayRequest,
} from './fleet/adapter-event.ts';
export {
  type AgentEvent,
  type AgentEventType,
  type ArtifactEvent,
  type ArtifactStatus,
  type AssistantDeltaEvent,
  type AssistantFinalEvent,
  agentEvent,
  agentEventType,
  artifactStatus,
  type CoherenceCategory,
  type CoherenceEvent,
  type CompletionEvent,
  coherenceCategory,
  type DecisionEvent,
  type DelegationEvent,
  decisionEvent,
  type ErrorEvent,
  eventPriority,
  type GuardrailEvent,
  type LifecycleEvent,
  type OptionDecisionEvent,
  type ProgressEvent,
  type RawProviderEvent,
  type StatusEvent,
  type ToolApprovalEvent,
  type ToolCallEvent,
  type UsageEvent,
} from './fleet/agent-event.ts';
export {
  type AgentHandle,
  agentHandle,
  type PluginCapabilities,
  type PluginCapability,
  pluginCapabilities,
} from './fleet/agent-handle.ts';
export {
  type AgentHealthStatus,
  type AgentPlugin,
  type AgentRegistry,
  agentHealthStatus,
  type PluginFacts,
  type PluginRegistration,
  pluginFacts,
} from './fleet/agent-plugin.ts';
export {
  type BrakeAction,
  type BrakedAgent,
  type BrakeRecord,
  type BrakeReleaseCondition,
  type BrakeScope,
  brakeAction,
  brakeRecord,
  brakeReleaseCondition,
  brakeScope,
} from './fleet/brake.ts';
export {
  type AgentBrief,
  type AgentTemplate,
  agentBrief,
  agentTemplate,
  type BriefChanges,
  briefChanges,
  DEFAULT_HISTORY_TURNS,
  type DelegationPolicy,
  delegationPolicy,
  type McpServerConfig,
  mcpServerConfig,
  type ProjectBrief,
  projectBrief,
  type SecretRef,
  type SessionPolicy,
  secretRef,
  sessionPolicy,
  shadowingKeys,
} from './fleet/brief.ts';
export {
  CHECKPOINTS_KEPT,
  type CrashRecoveryPolicy,
  crashRecoveryPolicy,
  defaultCrashRecovery,
  defaultKillRequest,
  FORCED_KILL_MS,
  type KillRequest,
  type KillResponse,
  killRequest,
  killResponse,
  type SdkCheckpoint,
  type SerializedAgentState,
  STATE_MAX_BYTES,
  sdkCheckpoint,
  serializedAgentState,
} from './fleet/checkpoints.ts';
export {
  type ContextInjection,
  type ContextInjectionPolicy,
  type ContextReactiveTrigger,
  contextInjection,
  contextInjectionPolicy,
  contextReactiveTrigger,
  defaultInjectionPolicies,
} from './fleet/context-injection.ts';
export {
  DEFAULT_MAX_EXTENSIONS,
  DEFAULT_ORPHAN_GRACE_MS,
  type DecisionAction,
  type DecisionBadge,
  type DecisionItem,
  type DecisionLogEntry,
  type DecisionOption,
  type DecisionStatus,
  type DecisionSubject,
  type DecisionTimeoutPolicy,
  decisionAction,
  decisionBadge,
  decisionItem,
  decisionLogEntry,
  decisionOption,
  decisionStatus,
  decisionSubject,
  decisionTimeoutPolicy,
  type OrphanedDecisionAction,
  type OrphanedDecisionPolicy,
  orphanedDecisionAction,
  orphanedDecisionPolicy,
} from './fleet/decisions.ts';
export {
  type EscalationPredicate,
  type EscalationProtocol,
  type EscalationRule,
  escalationPredicate,
  escalationProtocol,
  escalationRule,
  PREDICATE_MAX_DEPTH,
  withoutTrustRules,
} from './fleet/escalation.ts';
export { type GuardrailPolicy, type GuardrailSpec, guardrailPolicy } from './fleet/guardrails.ts';
export { type AgentHandleStatus, agentHandleStatus, handleStatusViews } from './fleet/handle-status.ts';
export {
  type AgentSummary,
  type ArtifactSummary,
  type CoherenceIssueSummary,
  DEFAULT_SNAPSHOT_TOKENS,
  type DecisionSummary,
  type KnowledgeSnapshot,
  knowledgeSnapshot,
  type WorkstreamSummary,
} from './fleet/knowledge.ts';
export { parseAdapterEvent } from './fleet/parse-adapter-event.ts';
export { type PluginError, type PluginErrorCode, pluginError, pluginErrorPlans } from './fleet/plugin-error.ts';
export { type Provenance, projectPath, provenance } from './fleet/provenance.ts';
export { type GivenAnswer, type Resolution, resolution, resolutionGiven } from './fleet/resolution.ts';
export { type RunSeat, runSeat } from './fleet/run-seat.ts';
export {
  type ArtifactUpload,
  type ArtifactUploadResult,
  artifactUpload,
  artifactUploadResult,
  type InProcessTransport,
  type PluginTransport,
  type SandboxBootstrap,
  type SandboxHealthResponse,
  type SandboxInfo,
  type SandboxResourceUsage,
  sandboxBootstrap,
  sandboxHealthResponse,
  sandboxInfo,
  type TokenRenewRequest,
  type TokenRenewResponse,
  type TransportAddress,
  tokenRenewRequest,
  tokenRenewResponse,
  transportAddress,
} from './fleet/sandbox.ts';
export {
  type ActionKind,
  actionKind,
  type BlastRadius,
  blastRadius,
  blastRadiusRank,
  type ControlMode,
  controlMode,
  type Severity,
  severity,
  severityRank,
  tick,
} from './fleet/scales.ts';
export { type ConsoleArea, consoleArea, type FleetMessage, fleetMessage } from './fleet/socket-messages.ts';
export { type Fault, faultsOf, parseStrictly } from './fleet/strict-parse.ts';
export { defaultTickConfig, type TickConfig, type TickService, tickConfig } from './fleet/ticks.ts';
export {
  kindWords,
  type ToolKind,
  type ToolRiskClassification,
  toolKind,
  toolRiskClassification,
  UNCLASSIFIED_TOOL,
} from './fleet/tool-risk.ts';
export {
  defaultRiskWeights,
  defaultTrustCalibration,
  type TrustCalibrationConfig,
  type TrustCalibrationProfile,
  type TrustChange,
  type TrustOutcome,
  type TrustProfile,
  type TrustProfileName,
  trustBaseDeltas,
  trustCalibrationConfig,
  trustCalibrationProfile,
  trustCalibrationProfiles,
  trustChange,
  trustOutcome,
  trustProfile,
  trustProfileName,
} from './fleet/trust.ts';
export {
  defaultResourceLimits,
  type ResourceLimits,
  type SandboxCapability,
  sandboxCapability,
  type WorkspaceMount,
  type WorkspaceRequirements,
  workspaceRequirements,
} from './fleet/workspace.ts';
export { namesId, shortId } from './handles.ts';
export {
  type AdapterSessionId,
  type AgentId,
  type ApprovalId,
  type ArtifactId,
  adapterSessionId,
  agentId,
  approvalId,
  artifactId,
  type CoherenceIssueId,
  coherenceIssueId,
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
  type ProjectId,
  payloadId,
  projectId,
  type RunId,
  runId,
  type SessionId,
  sessionId,
  type ToolId,
  toolId,
  uuid,
} from './ids.ts';
export {
  asJson,
  isJsonObject,
  isPlainObject,
  JSON_MAX_DEPTH,
  type Json,
  type JsonObject,
  json,
  jsonObject,
  parsedJson,
  plainDataFault,
  text,
} from './json.ts';
export { didYouMean, editDistance } from './nearest-name.ts';
export { isWorkKind, nodeKindFacts, type PlanNodeKind, planNodeKinds, textOf } from './node-kinds.ts';
export { isQuiet, timeOfDay } from './quiet-hours.ts';
export { err, ok, type Result } from './result.ts';
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
} from './secrets/secret-filter.ts';
export { createSecretStream, type SecretStream } from './secrets/secret-stream.ts';
export { isDenied, timerDue, timerReason } from './status/block-reason.ts';
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
export { issuesText, thrownMessage, thrownStack, thrownText } from './thrown.ts';
export {
  codeFrame,
  DEFAULT_EDITOR_URL,
  editorUrl,
  shortPlace,
  type ThrownPlace,
  thrownPlace,
} from './thrown-place.ts';
export { TRUNCATION_MARKER, truncateUtf8, utf8Bytes, utf8Length } from './utf8.ts';
export { type UuidWords, uuidV5, uuidWords } from './uuid-v5.ts';
export { type AgentCheck, type AgentJob, agentCheck, type WireAgent } from './wire/agents.ts';
export { answers } from './wire/answers.ts';
export {
  artifactList,
  artifactsQuery,
  type ChangedPath,
  type RunChanges,
  type WireArtifact,
  wireArtifact,
  workspaceDiff,
} from './wire/artifacts.ts';
export type { ImportReport } from './wire/bundles.ts';
export type {
  ComparedRun,
  DecisionPair,
  FilePair,
  FramePair,
  NodePair,
  RunComparison,
  ValuePair,
} from './wire/compare.ts';
export {
  type AnswerBody,
  decisionList,
  type WireDecision,
  wireDecision,
} from './wire/decisions.ts';
export { type InternalEventType, internalEventTypes } from './wire/event-types.ts';
export {
  type FindKind,
  type FindQuery,
  type FoundList,
  type FoundThing,
  findKind,
  findQuery,
  foundThing,
  type SnippetPart,
} from './wire/find.ts';
export type {
  QueuedDecision,
  TrustProof,
  WireBrakes,
  WireCoherence,
  WireFleetAgent,
  WireFleetAgentDetail,
  WireFleetLog,
  WireKnownArtifact,
  WireTrust,
  WireTrustSimulation,
} from './wire/fleet.ts';
export {
  checkpointList,
  type EditOp,
  editOp,
  type Lineage,
  lineage,
  type RollbackReport,
  rollbackReport,
  undoReport,
  type WireCheckpoint,
} from './wire/forks.ts';
export {
  eventList,
  type FrameState,
  frameList,
  type WireChunk,
  type WireEvent,
  type WireFrame,
  type WireStoredEvent,
  type WireTransition,
} from './wire/history.ts';
export { bodies, inputs, queries } from './wire/inputs.ts';
export type { CeilingView, LimitsView } from './wire/limits.ts';
export { type NodeInput, nodeInput, type WireToolPolicy } from './wire/node-input.ts';
export {
  type AnswerOf,
  type InputOf,
  type Needed,
  type Operation,
  type OperationName,
  type Operations,
  operations,
  type PathNames,
} from './wire/operations.ts';
export {
  type PlanDescription,
  type PlanFiles,
  type PlanList,
  planDescription,
  planList,
  type WirePlan,
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
export { type RecoveryNote, recoveryList } from './wire/recoveries.ts';
export type { RedactionReport } from './wire/redaction.ts';
export { decisionsQuery, type EventView, runsQuery, type StartBody } from './wire/requests.ts';
export {
  defectWords,
  type ReplayedRow,
  type ReplayReport,
  type RunCheck,
  replayReport,
  runCheck,
} from './wire/run-checks.ts';
export {
  type RunOutline,
  type RunSnapshot,
  runSnapshot,
  type TreeNode,
  treeNode,
  type WireTask,
} from './wire/run-snapshot.ts';
export {
  type GuidedFacts,
  type RunKind,
  type RunList,
  type RunSummary,
  runKind,
  runList,
  runSummary,
  type WireFault,
  type WireRecord,
  wireLimits,
} from './wire/run-summary.ts';
export {
  type SessionDetail,
  type SessionGap,
  type SessionList,
  type SessionNode,
  type SessionSummary,
  sessionDetail,
  sessionList,
  startedSession,
  workflowDetail,
  workflowList,
} from './wire/sessions.ts';
export { type SettingItem, type SettingSource, type Settings, settings, type ToolPolicy } from './wire/settings.ts';
export { type ClientMessage, clientMessage, closeCodes, type ServerMessage, serverMessage } from './wire/socket.ts';
export { type StorageReason, type StorageStanding, storageReason } from './wire/storage.ts';
export type { ModelCall, RunSpend, WireModelCall, WireSpending } from './wire/usage.ts';
export { type AddedUser, type Login, type OneTimeLink, type UserRole, userRole, type WireUser } from './wire/users.ts';
export {
  type CopyWorkflow,
  type SavedWorkflow,
  type SaveWorkflow,
  savedWorkflow,
  type WorkflowCheck,
  workflowCheck,
} from './wire/workflow-editing.ts';
export { type WorkflowForms, workflowForms } from './wire/workflow-forms.ts';
