import {
  type AdapterEvent,
  type AdapterSessionId,
  type AgentEvent,
  type AgentEventType,
  type AgentId,
  type ApprovalId,
  type ArtifactEvent,
  type ArtifactId,
  type AssistantDeltaEvent,
  type AssistantFinalEvent,
  adapterSessionId,
  agentId,
  approvalId,
  artifactId,
  type CoherenceEvent,
  type CoherenceIssueId,
  type CompletionEvent,
  coherenceIssueId,
  type DecisionEvent,
  type DecisionOption,
  type DelegationEvent,
  digest,
  type ErrorEvent,
  type EventEnvelope,
  type EventFilter,
  type EventId,
  type EventValidationResult,
  eventId,
  type GuardrailEvent,
  type LifecycleEvent,
  type MessageId,
  messageId,
  type OptionDecisionEvent,
  type ProgressEvent,
  type Provenance,
  type RawProviderEvent,
  type ReplayRequest,
  type StatusEvent,
  type ToolApprovalEvent,
  type ToolCallEvent,
  timestamp,
  type UsageEvent,
} from '@signalbox/model';

/** One whole value of each kind, every optional field present. */

export const at = timestamp.parse('2026-01-01T00:00:00Z');
const id = (last: string) => `01900000-0000-7000-8000-${last.padStart(12, '0')}`;

interface FleetIds {
  readonly agent: AgentId;
  readonly peer: AgentId;
  readonly session: AdapterSessionId;
  readonly event: EventId;
  readonly decision: ApprovalId;
  readonly artifact: ArtifactId;
  readonly source: ArtifactId;
  readonly issue: CoherenceIssueId;
  readonly message: MessageId;
  readonly brake: string;
}
export const fleetIds: FleetIds = {
  agent: agentId.parse(id('a1')),
  peer: agentId.parse(id('a2')),
  session: adapterSessionId.parse(id('b1')),
  event: eventId.parse(id('c1')),
  decision: approvalId.parse(id('d1')),
  artifact: artifactId.parse(id('e1')),
  source: artifactId.parse(id('e2')),
  issue: coherenceIssueId.parse(id('f1')),
  message: messageId.parse(id('aa')),
  brake: id('bb'),
};
const { agent } = fleetIds;
const contentHash = digest.parse(`sha256:${'0'.repeat(64)}`);

export const optionSample: DecisionOption = {
  id: 'websocket',
  label: 'WebSocket',
  description: 'One connection per client.',
  tradeoffs: 'Fast, but proxies may drop it.',
};

export const provenanceSample: Provenance = {
  createdBy: agent,
  createdAt: at,
  modifiedBy: fleetIds.peer,
  modifiedAt: at,
  sourceArtifactIds: [fleetIds.source],
  sourcePath: 'src/api.ts',
};

const status: StatusEvent = { type: 'status', agentId: agent, message: 'Reading the schema', tick: 3 };
export const optionDecisionSample: OptionDecisionEvent = {
  type: 'decision',
  subtype: 'option',
  agentId: agent,
  decisionId: fleetIds.decision,
  title: 'Transport of notifications',
  summary: 'Clients need updates within a second.',
  severity: 'medium',
  confidence: 0.7,
  blastRadius: 'medium',
  options: [optionSample, { id: 'polling', label: 'Polling', description: 'Every five seconds.', tradeoffs: 'Slow.' }],
  recommendedOptionId: 'websocket',
  affectedArtifactIds: [fleetIds.artifact],
  requiresRationale: true,
  dueByTick: 50,
};
export const toolApprovalSample: ToolApprovalEvent = {
  type: 'decision',
  subtype: 'tool_approval',
  agentId: agent,
  decisionId: fleetIds.decision,
  toolName: 'Bash',
  toolArgs: { command: 'npm run deploy' },
  severity: 'high',
  confidence: 0.9,
  blastRadius: 'large',
  affectedArtifactIds: [fleetIds.artifact],
  dueByTick: 20,
};
const artifact: ArtifactEvent = {
  type: 'artifact',
  agentId: agent,
  artifactId: fleetIds.artifact,
  name: 'api.ts',
  kind: 'code',
  workstream: 'backend',
  status: 'in_review',
  qualityScore: 0.8,
  provenance: provenanceSample,
  uri: `artifact://${fleetIds.artifact}`,
  mimeType: 'text/typescript',
  sizeBytes: 120,
  contentHash,
};
const coherence: CoherenceEvent = {
  type: 'coherence',
  agentId: agent,
  issueId: fleetIds.issue,
  title: 'Two definitions of the payload',
  description: 'The client expects `id`, the server sends `key`.',
  category: 'contradiction',
  severity: 'high',
  affectedWorkstreams: ['backend', 'frontend'],
  affectedArtifactIds: [fleetIds.artifact],
};
const toolCall: ToolCallEvent = {
  type: 'tool_call',
  agentId: agent,
  toolCallId: 'toolu_01',
  toolName: 'Read',
  phase: 'completed',
  input: { path: 'src/api.ts' },
  output: { lines: 12 },
  approved: true,
  durationMs: 4.5,
};
const completion: CompletionEvent = {
  type: 'completion',
  agentId: agent,
  summary: 'The endpoint is there; its tests are not.',
  artifactsProduced: [fleetIds.artifact],
  decisionsNeeded: [fleetIds.decision],
  outcome: 'partial',
  reason: 'The test database was not reachable.',
};
const error: ErrorEvent = {
  type: 'error',
  agentId: agent,
  severity: 'high',
  message: 'The provider answered 529.',
  recoverable: true,
  errorCode: 'provider_unavailable',
  category: 'provider',
  context: { toolName: 'Bash', lastAction: 'running the tests' },
};
const delegation: DelegationEvent = {
  type: 'delegation',
  agentId: agent,
  action: 'spawned',
  childAgentId: fleetIds.peer,
  childRole: 'Test Agent',
  reason: 'Tests can be written meanwhile.',
  delegationDepth: 1,
  rootAgentId: agent,
};
const guardrail: GuardrailEvent = {
  type: 'guardrail',
  agentId: agent,
  guardrailName: 'no-secrets',
  level: 'output',
  tripped: true,
  message: 'The output holds a key.',
};
const lifecycle: LifecycleEvent = { type: 'lifecycle', agentId: agent, action: 'paused', reason: 'brake' };
const progress: ProgressEvent = {
  type: 'progress',
  agentId: agent,
  operationId: 'index',
  description: 'Indexing files',
  progressPct: 40,
};
const rawProvider: RawProviderEvent = {
  type: 'raw_provider',
  agentId: agent,
  providerName: 'claude',
  eventType: 'rate_limit_event',
  payload: { status: 'allowed' },
};
const delta: AssistantDeltaEvent = {
  type: 'message.assistant.delta',
  agentId: agent,
  messageId: fleetIds.message,
  delta: 'The end',
};
const final: AssistantFinalEvent = {
  type: 'message.assistant.final',
  agentId: agent,
  messageId: fleetIds.message,
  content: 'The endpoint is ready.',
};
const usage: UsageEvent = {
  type: 'usage',
  agentId: agent,
  call: 'msg_01',
  provider: 'anthropic',
  model: 'opus',
  inputTokens: 1200,
  outputTokens: 80,
  cachedTokens: 1000,
  toolCalls: 1,
  costMicroUsd: 900,
  wallMs: 2100,
};

/** One event of each type; the compiler reports a type without one. */
export const agentEventSamples: Readonly<Record<AgentEventType, AgentEvent>> = {
  status,
  decision: optionDecisionSample,
  artifact,
  coherence,
  tool_call: toolCall,
  completion,
  error,
  delegation,
  guardrail,
  lifecycle,
  progress,
  raw_provider: rawProvider,
  'message.assistant.delta': delta,
  'message.assistant.final': final,
  usage,
};
export const decisionSamples: readonly DecisionEvent[] = [optionDecisionSample, toolApprovalSample];

export const adapterEventSample: AdapterEvent = {
  sourceEventId: fleetIds.event,
  sourceSequence: 0,
  sourceOccurredAt: at,
  runId: fleetIds.session,
  event: status,
};
export const envelopeSample: EventEnvelope = { ...adapterEventSample, ingestedAt: at };
export const validationSample: EventValidationResult = {
  valid: true,
  event: status,
  raw: { type: 'status' },
  errors: ['"message" is missing.'],
  repaired: true,
};
export const filterSample: EventFilter = {
  agentId: agent,
  runId: fleetIds.session,
  types: ['status', 'decision'],
  since: at,
  limit: 100,
};
export const replaySample: ReplayRequest = { runId: fleetIds.session, fromSequence: 2, toSequence: 5 };
