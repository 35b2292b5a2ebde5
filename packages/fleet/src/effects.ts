import type {
  AdapterSessionId,
  AgentBrief,
  AgentId,
  ApprovalId,
  ArtifactId,
  BriefChanges,
  DecisionLogEntry,
  DecisionStatus,
  EventEnvelope,
  Resolution,
  SerializedAgentState,
  Timestamp,
  TrustChange,
} from '@signalbox/model';
import type { CoherenceCandidate, CoherenceIssue } from './coherence/coherence-state.ts';
import type { EngagedBrake } from './control/control-state.ts';
import type { FleetDecision } from './decisions/decision-state.ts';
import type { PluginCall } from './facts.ts';
import type { KnownArtifact } from './knowledge/knowledge-state.ts';
import type { EventRoute } from './pipeline/event-routing.ts';
import type { EventMarks } from './pipeline/pipeline-state.ts';
import type { QuarantinedMessage } from './pipeline/quarantine.ts';

/** What became of an answer. */
export type AnswerOutcome =
  | { readonly outcome: 'accepted'; readonly resolution: Resolution }
  /** Answered before, or ended without an answer: the first outcome counts (R7). */
  | { readonly outcome: 'closed'; readonly status: DecisionStatus; readonly resolution?: Resolution }
  /** The proposal is another one by now. */
  | { readonly outcome: 'void' }
  | { readonly outcome: 'unfit'; readonly problem: string }
  /** Nobody answers what they asked (R41). */
  | { readonly outcome: 'forbidden' }
  | { readonly outcome: 'unknown' };

/** A line of the audit. */
type AuditEntry =
  | ({ readonly subject: 'decision' } & DecisionLogEntry)
  | {
      readonly subject: 'control' | 'agent' | 'knowledge';
      readonly at: Timestamp;
      readonly tick: number;
      readonly by: string;
      readonly action: string;
      readonly reason: string;
      readonly agentId?: AgentId;
    };

/** What is to be kept, in the transaction of the fact. */
type RecordEffect =
  | {
      readonly kind: 'commit_event';
      readonly envelope: EventEnvelope;
      readonly marks: EventMarks;
      readonly route: EventRoute;
    }
  | { readonly kind: 'save_quarantined'; readonly message: QuarantinedMessage }
  | { readonly kind: 'save_decision'; readonly decision: FleetDecision }
  | { readonly kind: 'save_trust'; readonly change: TrustChange }
  | { readonly kind: 'save_brake'; readonly brake: EngagedBrake }
  | { readonly kind: 'save_artifact'; readonly artifact: KnownArtifact }
  | { readonly kind: 'save_issue'; readonly issue: CoherenceIssue }
  | { readonly kind: 'audit'; readonly entry: AuditEntry };

/** What the caller of this fact is answered, once it is durable. */
type ReplyEffect =
  | ({ readonly kind: 'answer_settled'; readonly decisionId: ApprovalId } & AnswerOutcome)
  | {
      readonly kind: 'request_refused';
      readonly agentId?: AgentId;
      readonly code: RefusalCode;
      readonly reason: string;
    }
  | {
      readonly kind: 'write_conflict';
      readonly artifactId: ArtifactId;
      readonly expectedVersion: number;
      readonly version: number;
    };

export type RefusalCode =
  | 'agent_unknown'
  | 'agent_live'
  | 'agent_not_live'
  | 'braked'
  | 'brief_invalid'
  | 'plugin_unknown'
  | 'artifact_unknown'
  | 'issue_unknown';

/** What is shown to whoever watches, once it is durable. */
type PublishEffect =
  | { readonly kind: 'publish_event'; readonly envelope: EventEnvelope; readonly route: EventRoute }
  | { readonly kind: 'sync_state' };

/** What is done to agents and services, once it is durable. Each may be done twice after a crash, so each must bear that. */
export type ActEffect =
  | { readonly kind: 'spawn_agent'; readonly agentId: AgentId; readonly pluginName: string; readonly brief: AgentBrief }
  | {
      readonly kind: 'resume_agent';
      readonly agentId: AgentId;
      readonly pluginName: string;
      readonly state: SerializedAgentState;
      readonly changes: BriefChanges;
    }
  /** `abort`: the plugin cannot pause; the agent is ended and what can be saved is. */
  | {
      readonly kind: 'stop_agent';
      readonly agentId: AgentId;
      readonly how: 'pause' | 'abort' | 'kill';
      readonly reason: string;
    }
  | { readonly kind: 'update_brief'; readonly agentId: AgentId; readonly changes: BriefChanges }
  | { readonly kind: 'compact_conversation'; readonly agentId: AgentId }
  | {
      readonly kind: 'retry_call';
      readonly agentId: AgentId;
      readonly call: PluginCall;
      readonly attempt: number;
      readonly afterMs: number;
    }
  /**
   * Delivered again until it is acknowledged. Only the adapter session that asked knows the decision by its id: if the agent has another
   * one by now, or the decision was reassigned, it is told in a required injection.
   */
  | {
      readonly kind: 'deliver_resolution';
      readonly decisionId: ApprovalId;
      readonly agentId: AgentId;
      readonly session: AdapterSessionId;
      readonly resolution: Resolution;
      readonly isReassigned: boolean;
    }
  | { readonly kind: 'inject_decision'; readonly agentId: AgentId; readonly decision: FleetDecision }
  | {
      readonly kind: 'request_replay';
      readonly agentId: AgentId;
      readonly runId: AdapterSessionId;
      readonly fromSequence: number;
      readonly toSequence: number;
    }
  | { readonly kind: 'request_snapshot'; readonly agentId: AgentId }
  | {
      readonly kind: 'request_similarities';
      readonly scan: number;
      readonly pairs: readonly (readonly [ArtifactId, ArtifactId])[];
    }
  | { readonly kind: 'request_reviews'; readonly candidates: readonly CoherenceCandidate[] };

export type Effect = RecordEffect | ReplyEffect | PublishEffect | ActEffect;

/** When an effect is performed. Nothing is said or done before what it follows from is durable (T1). */
export type EffectPhase = 'record' | 'reply' | 'publish' | 'act';

export const effectPhases: { readonly [Kind in Effect['kind']]: EffectPhase } = {
  commit_event: 'record',
  save_quarantined: 'record',
  save_decision: 'record',
  save_trust: 'record',
  save_brake: 'record',
  save_artifact: 'record',
  save_issue: 'record',
  audit: 'record',
  answer_settled: 'reply',
  request_refused: 'reply',
  write_conflict: 'reply',
  publish_event: 'publish',
  sync_state: 'publish',
  spawn_agent: 'act',
  resume_agent: 'act',
  stop_agent: 'act',
  update_brief: 'act',
  compact_conversation: 'act',
  retry_call: 'act',
  deliver_resolution: 'act',
  inject_decision: 'act',
  request_replay: 'act',
  request_snapshot: 'act',
  request_similarities: 'act',
  request_reviews: 'act',
};
