import type { AgentEventType, AgentId, Json } from '@signalbox/model';

/** What is known of an event from where it came. */
interface EventPlace {
  readonly agentId: AgentId;
  readonly workstream: string;
  readonly occurredAt: Json;
}

type Default = (place: EventPlace) => Json;
const nothing: Default = () => '';
const none: Default = () => [];

/**
 * What a missing field of an event stands for, by path inside the event; `*` is any place in a list. Only values that claim nothing are
 * here: empty texts and lists, and of a scale the end at which a person looks. A field that says what the event is about has no default.
 */
export const repairDefaults: { readonly [Type in AgentEventType]: { readonly [path: string]: Default } } = {
  status: {},
  decision: {
    summary: nothing,
    severity: () => 'high',
    confidence: () => 0,
    blastRadius: () => 'unknown',
    affectedArtifactIds: none,
    requiresRationale: () => false,
    'options.*.description': nothing,
  },
  artifact: {
    status: () => 'draft',
    qualityScore: () => 0,
    provenance: ({ agentId, occurredAt }) => ({ createdBy: agentId, createdAt: occurredAt }),
    'provenance.createdBy': ({ agentId }) => agentId,
    'provenance.createdAt': ({ occurredAt }) => occurredAt,
  },
  coherence: {
    description: nothing,
    severity: () => 'medium',
    affectedWorkstreams: ({ workstream }) => [workstream],
    affectedArtifactIds: none,
  },
  tool_call: { input: () => ({}), approved: () => false },
  completion: { summary: nothing, artifactsProduced: none, decisionsNeeded: none },
  error: { severity: () => 'medium', recoverable: () => false, category: () => 'internal' },
  delegation: { reason: nothing },
  guardrail: { message: nothing },
  lifecycle: {},
  progress: { description: nothing, progressPct: () => null },
  raw_provider: { payload: () => ({}) },
  'message.assistant.delta': {},
  'message.assistant.final': {},
  usage: {},
};
