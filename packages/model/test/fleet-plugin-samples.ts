import {
  type AgentBrief,
  type AgentHandle,
  type AgentHealthStatus,
  type AgentSummary,
  type AgentTemplate,
  type ArtifactSummary,
  type ArtifactUpload,
  type ArtifactUploadResult,
  artifactRefOf,
  type BriefChanges,
  type CoherenceIssueSummary,
  type ContextInjection,
  type ContextInjectionPolicy,
  type ContextReactiveTrigger,
  type CrashRecoveryPolicy,
  type DecisionSummary,
  type DelegationPolicy,
  digest,
  type EscalationPredicate,
  type EscalationProtocol,
  type EscalationRule,
  type FleetMessage,
  type GuardrailPolicy,
  type GuardrailSpec,
  type KillRequest,
  type KillResponse,
  type KnowledgeSnapshot,
  type McpServerConfig,
  type PluginCapabilities,
  type PluginError,
  type PluginErrorCode,
  type PluginFacts,
  type ProjectBrief,
  type ResourceLimits,
  type SandboxBootstrap,
  type SandboxCapability,
  type SandboxHealthResponse,
  type SandboxInfo,
  type SandboxResourceUsage,
  type SdkCheckpoint,
  type SecretRef,
  type SerializedAgentState,
  type SessionPolicy,
  type TokenRenewRequest,
  type TokenRenewResponse,
  type ToolRiskClassification,
  type TransportAddress,
  type WorkspaceMount,
  type WorkspaceRequirements,
  type WorkstreamSummary,
} from '@signalbox/model';
import { at, envelopeSample, fleetIds } from './fleet-event-samples.ts';
import { brakeActionSample, brakeRecordSample, resolutionSample } from './fleet-samples.ts';

/** One whole value of each kind, every optional field present. */

const agentId = fleetIds.agent;

export const secretSample: SecretRef = { name: 'deploy_token', vaultKey: 'DEPLOY_TOKEN', scope: 'agent' };
const guardrail: GuardrailSpec = { name: 'no-secrets', description: 'No keys in the output.', action: 'block' };
export const guardrailPolicySample: GuardrailPolicy = {
  inputGuardrails: [guardrail],
  outputGuardrails: [guardrail],
  toolGuardrails: [guardrail],
};
export const predicateSamples: readonly EscalationPredicate[] = [
  { field: 'confidence', op: 'lt', value: 0.5 },
  { field: 'blastRadius', op: 'gte', value: 'medium' },
  { field: 'trustScore', op: 'lte', value: 70 },
  { field: 'affectsMultipleWorkstreams', op: 'eq', value: true },
  {
    type: 'and',
    rules: [
      { field: 'confidence', op: 'lt', value: 0.8 },
      { type: 'or', rules: [{ field: 'blastRadius', op: 'eq', value: 'unknown' }] },
    ],
  },
];
export const ruleSample: EscalationRule = {
  predicate: { field: 'confidence', op: 'lt', value: 0.5 },
  description: 'Low confidence',
};
export const protocolSample: EscalationProtocol = {
  alwaysEscalate: ['delete', 'deploy'],
  escalateWhen: [ruleSample],
  neverEscalate: ['read'],
};
const mount: WorkspaceMount = { hostPath: './src', sandboxPath: '/workspace/src', readOnly: true };
const needed: readonly SandboxCapability[] = ['terminal', 'git', 'network_internal_only'];
const resourceLimits: ResourceLimits = { cpuCores: 2, memoryMb: 4096, diskMb: 10_240, timeoutMs: 3_600_000 };
export const workspaceSample: WorkspaceRequirements = {
  mounts: [mount],
  capabilities: needed,
  resourceLimits,
  baseImage: 'sandbox-node:24',
};
const workstream: WorkstreamSummary = {
  id: 'backend',
  name: 'Backend',
  status: 'active',
  activeAgentIds: [agentId],
  artifactCount: 1,
  pendingDecisionCount: 1,
  recentActivity: 'The endpoint was written.',
};
const pending: DecisionSummary = {
  id: fleetIds.decision,
  title: 'Transport of notifications',
  severity: 'medium',
  agentId,
  subtype: 'option',
};
const issue: CoherenceIssueSummary = {
  id: fleetIds.issue,
  title: 'Two definitions of the payload',
  severity: 'high',
  category: 'contradiction',
  affectedWorkstreams: ['backend', 'frontend'],
};
const artifact: ArtifactSummary = {
  id: fleetIds.artifact,
  name: 'api.ts',
  kind: 'code',
  status: 'draft',
  workstream: 'backend',
};
const peer: AgentSummary = {
  id: fleetIds.peer,
  role: 'Frontend Agent',
  workstream: 'frontend',
  status: 'waiting_on_human',
  pluginName: 'openai',
  modelPreference: 'gpt-4o',
};
export const snapshotSample: KnowledgeSnapshot = {
  version: 12,
  generatedAt: at,
  workstreams: [workstream],
  pendingDecisions: [pending],
  recentCoherenceIssues: [issue],
  artifactIndex: [artifact],
  activeAgents: [peer],
  estimatedTokens: 310,
};
export const projectBriefSample: ProjectBrief = {
  title: 'Notifications',
  description: 'Updates within a second.',
  goals: ['No polling'],
  checkpoints: ['API agreed'],
};
export const mcpServerSamples: readonly McpServerConfig[] = [
  { transport: 'stdio', name: 'files', command: 'mcp-files', args: ['--root', '.'], env: { TOKEN: '$DEPLOY_TOKEN' } },
  { transport: 'http', name: 'docs', url: 'https://docs.example/mcp', headers: { authorization: '$DOCS_TOKEN' } },
];
export const delegationPolicySample: DelegationPolicy = {
  canSpawnSubagents: true,
  allowedHandoffs: [fleetIds.peer],
  maxDepth: 1,
};
export const sessionPolicySample: SessionPolicy = {
  maxTurns: 30,
  contextBudgetTokens: 8000,
  historyPolicy: 'recent_n',
  historyN: 50,
};
export const triggerSamples: readonly ContextReactiveTrigger[] = [
  { on: 'artifact_approved', workstreams: 'own' },
  { on: 'decision_resolved', workstreams: 'readable' },
  { on: 'coherence_issue', severity: 'high' },
  { on: 'agent_completed', workstreams: 'readable' },
  { on: 'brief_updated' },
];
export const injectionPolicySample: ContextInjectionPolicy = {
  periodicIntervalTicks: 20,
  reactiveEvents: triggerSamples,
  stalenessThreshold: 10,
  maxInjectionsPerHour: 12,
  cooldownTicks: 5,
};
export const injectionSample: ContextInjection = {
  content: 'The API contract was approved.',
  format: 'markdown',
  snapshotVersion: 13,
  estimatedTokens: 9,
  priority: 'recommended',
};
export const briefSample: AgentBrief = {
  agentId,
  role: 'Backend Agent',
  description: 'Writes the endpoint.',
  workstream: 'backend',
  readableWorkstreams: ['frontend'],
  constraints: ['No new dependency.'],
  escalationProtocol: protocolSample,
  controlMode: 'adaptive',
  projectBrief: projectBriefSample,
  knowledgeSnapshot: snapshotSample,
  modelPreference: 'opus',
  allowedTools: ['Read', 'Edit'],
  mcpServers: mcpServerSamples,
  workspaceRequirements: workspaceSample,
  outputSchema: { type: 'object' },
  guardrailPolicy: guardrailPolicySample,
  delegationPolicy: delegationPolicySample,
  sessionPolicy: sessionPolicySample,
  contextInjectionPolicy: injectionPolicySample,
  secretRefs: [secretSample],
  providerConfig: { temperature: 0.7, experimental: { allowedTools: 'any' } },
};
export const changesSample: BriefChanges = { constraints: ['No new dependency.'], modelPreference: 'sonnet' };
export const templateSample: AgentTemplate = {
  name: 'code-review',
  title: 'Code Review Agent',
  brief: { role: 'Code Review Agent', allowedTools: ['Read'], escalationProtocol: protocolSample },
};

export const capabilitiesSample: PluginCapabilities = {
  supportsPause: true,
  supportsResume: true,
  supportsKill: true,
  supportsHotBriefUpdate: false,
};
export const handleSample: AgentHandle = {
  id: agentId,
  pluginName: 'claude',
  status: 'running',
  sessionId: 'sess-1',
  pendingBriefChanges: changesSample,
};
export const classificationSample: ToolRiskClassification = {
  toolPattern: 'deploy*',
  defaultSeverity: 'critical',
  defaultBlastRadius: 'large',
  defaultConfidence: 0.5,
  requiresRationale: true,
};
export const pluginFactsSample: PluginFacts = {
  name: 'claude',
  version: '1.0.0',
  capabilities: capabilitiesSample,
  toolClassifications: [classificationSample],
};
export const pluginErrorSamples: Readonly<Record<PluginErrorCode, PluginError>> = {
  provider_unavailable: { code: 'provider_unavailable', message: '529', retryable: true },
  invalid_state: { code: 'invalid_state', message: 'not paused', handle: handleSample },
  decision_not_found: { code: 'decision_not_found', decisionId: fleetIds.decision },
  rate_limited: { code: 'rate_limited', retryAfterMs: 20_000 },
  context_overflow: { code: 'context_overflow', currentTokens: 210_000, maxTokens: 200_000 },
  capability_unsupported: { code: 'capability_unsupported', capability: 'supportsPause' },
};
export const healthSample: AgentHealthStatus = {
  agentId,
  status: 'running',
  pluginName: 'claude',
  uptime: 1000,
  eventsEmitted: 4,
  lastEventAt: at,
  pendingDecisions: 1,
};

export const checkpointSamples: readonly SdkCheckpoint[] = [
  { sdk: 'openai', runStateJson: '{}' },
  { sdk: 'claude', sessionId: 'sess-1', lastMessageId: 'msg-1' },
  { sdk: 'gemini', sessionId: 'sess-1', stateSnapshot: { turn: 1 } },
  { sdk: 'acp', agent: 'codex', sessionId: 'sess-1' },
  { sdk: 'mock', scriptPosition: 3 },
];
export const stateSample: SerializedAgentState = {
  agentId,
  pluginName: 'mock',
  sessionId: 'sess-1',
  checkpoint: { sdk: 'mock', scriptPosition: 3 },
  briefSnapshot: briefSample,
  conversationSummary: 'It read the schema.',
  pendingDecisionIds: [fleetIds.decision],
  lastSequence: 7,
  serializedAt: at,
  serializedBy: 'pause',
  estimatedSizeBytes: 1024,
};
export const killSample: KillRequest = { grace: true, graceTimeoutMs: 10_000 };
export const killedSample: KillResponse = { state: stateSample, artifactsExtracted: 1, cleanShutdown: true };
export const recoverySample: CrashRecoveryPolicy = {
  autoRestart: true,
  autoRestartConditions: { minTrustScore: 70, maxConsecutiveCrashes: 3, cooldownMs: 30_000 },
  preferResumeOverRestart: true,
};

export const addressSamples: readonly TransportAddress[] = [
  { type: 'in_process' },
  { type: 'local_http', rpcEndpoint: 'http://localhost:9100', eventStreamEndpoint: 'ws://localhost:9100/events' },
  {
    type: 'container',
    sandboxId: 'abc123',
    rpcEndpoint: 'https://abc123.internal:8080',
    eventStreamEndpoint: 'wss://abc123.internal:8080/events',
    healthEndpoint: 'https://abc123.internal:8080/health',
  },
];
const resources: SandboxResourceUsage = { cpuPercent: 12.5, memoryMb: 300, diskMb: 20, collectedAt: at };
export const sandboxSample: SandboxInfo = {
  agentId,
  transport: { type: 'in_process' },
  providerType: 'in_process',
  createdAt: at,
  lastHeartbeatAt: at,
  resourceUsage: resources,
};
export const sandboxHealthSample: SandboxHealthResponse = {
  status: 'healthy',
  agentStatus: 'running',
  uptimeMs: 1000,
  resourceUsage: resources,
  pendingEventBufferSize: 0,
};
export const bootstrapSample: SandboxBootstrap = {
  backendUrl: 'http://127.0.0.1:4280',
  backendToken: 'token',
  tokenExpiresAt: at,
  agentId,
  artifactUploadEndpoint: 'http://127.0.0.1:4280/api/artifacts',
};
export const renewSample: TokenRenewRequest = { agentId, currentToken: 'token' };
export const renewedSample: TokenRenewResponse = { backendToken: 'token', tokenExpiresAt: at };
export const uploadSample: ArtifactUpload = {
  agentId,
  artifactId: fleetIds.artifact,
  sandboxUri: '/workspace/report.md',
  mimeType: 'text/markdown',
  contentHash: digest.parse(`sha256:${'1'.repeat(64)}`),
  sizeBytes: 12,
};
export const uploadedSample: ArtifactUploadResult = {
  backendUri: artifactRefOf(fleetIds.artifact),
  version: 1,
  storedAt: at,
  sizeBytes: 12,
};

/** The five messages; the compiler reports one without a sample. */
export const messageSamples: { readonly [Type in FleetMessage['type']]: FleetMessage & { type: Type } } = {
  event: { type: 'event', workspace: 'briefing', secondaryWorkspaces: ['controls'], envelope: envelopeSample },
  state_sync: {
    type: 'state_sync',
    snapshot: snapshotSample,
    activeAgents: [handleSample],
    trustScores: [{ agentId, score: 50 }],
    controlMode: 'adaptive',
  },
  brake: {
    type: 'brake',
    action: brakeActionSample,
    affectedAgentIds: [agentId],
    agents: brakeRecordSample.agents,
  },
  trust_update: {
    type: 'trust_update',
    agentId,
    previousScore: 50,
    newScore: 51,
    delta: 1,
    reason: 'anna approved Bash',
  },
  decision_resolved: {
    type: 'decision_resolved',
    decisionId: fleetIds.decision,
    resolution: resolutionSample,
    agentId,
  },
};
