import type {
  AdapterSessionId,
  AgentBrief,
  AgentEvent,
  AgentId,
  ApprovalId,
  ArtifactEvent,
  ArtifactId,
  BlastRadius,
  BrakeAction,
  ControlMode,
  DecisionEvent,
  DecisionStatus,
  DecisionTimeoutPolicy,
  EscalationProtocol,
  EventEnvelope,
  Json,
  OptionDecisionEvent,
  OrphanedDecisionAction,
  Resolution,
  RunSeat,
  Severity,
  Timestamp,
  TrustOutcome,
} from '@signalbox/model';
import type { Case, Verdict } from './control/judge.ts';
import type { EventMarks } from './pipeline/pipeline-state.ts';

/**
 * What one part of the fleet tells the others while a fact is worked off. It is never stored: it follows from the fact and the state. Some
 * are questions (`…_due`) that `fleet.ts` answers from several parts at once.
 */
export type InnerFact = { readonly at: Timestamp } & (
  | { readonly kind: 'ticked'; readonly tick: number }

  // The pipeline
  | {
      readonly kind: 'event_arrived';
      readonly agentId: AgentId;
      readonly payload: Json;
      readonly workstream: string;
      /** A brake silenced the agent. */
      readonly isSilenced: boolean;
    }
  | { readonly kind: 'session_began'; readonly agentId: AgentId; readonly session: AdapterSessionId }
  | { readonly kind: 'session_ended'; readonly agentId: AgentId }
  | { readonly kind: 'event_accepted'; readonly envelope: EventEnvelope; readonly marks: EventMarks }
  | { readonly kind: 'event_refused'; readonly agentId: AgentId; readonly refused: number }
  /** The fleet itself has something to say about an agent. */
  | { readonly kind: 'own_event'; readonly event: AgentEvent }

  // Decisions
  | {
      readonly kind: 'decision_raised';
      readonly event: DecisionEvent;
      readonly session: AdapterSessionId;
      readonly workstream: string;
      readonly risk: DecisionRisk;
      /** What the rules looked at; null if the agent asks for a choice. */
      readonly judged: Judged | null;
      readonly verdict: Verdict;
      readonly timeout: DecisionTimeoutPolicy;
      readonly isBraked: boolean;
      /** Asked by the fleet about the agent, which is not told. */
      readonly isOwn: boolean;
    }
  /** The agent does not wait for the answer any longer. */
  | { readonly kind: 'answer_moot'; readonly decisionId: ApprovalId; readonly agentId: AgentId }
  | { readonly kind: 'timeout_due'; readonly decisionId: ApprovalId }
  | { readonly kind: 'timeout_fired'; readonly decisionId: ApprovalId; readonly isAlwaysAsked: boolean }
  | { readonly kind: 'orphan_due'; readonly decisionId: ApprovalId }
  | {
      readonly kind: 'orphan_settled';
      readonly decisionId: ApprovalId;
      readonly action: OrphanedDecisionAction;
      readonly replacement: AgentId | null;
    }
  | {
      readonly kind: 'decision_closed';
      readonly decisionId: ApprovalId;
      readonly agentId: AgentId;
      readonly status: DecisionStatus;
      readonly resolution?: Resolution;
    }
  | {
      readonly kind: 'tool_allowed';
      readonly agentId: AgentId;
      readonly session: AdapterSessionId;
      readonly toolName: string;
    }

  // Trust
  | {
      readonly kind: 'trust_outcome';
      readonly agentId: AgentId;
      readonly outcome: TrustOutcome;
      readonly reason: string;
      readonly blastRadius?: BlastRadius;
      readonly decisionId?: ApprovalId;
      readonly artifactId?: ArtifactId;
    }

  // Control
  | {
      readonly kind: 'brake_engaged';
      readonly brakeId: string;
      readonly action: BrakeAction;
      readonly agents: readonly {
        readonly agentId: AgentId;
        readonly isRunning: boolean;
        readonly canPause: boolean;
      }[];
    }
  | { readonly kind: 'agents_stopped'; readonly agentIds: readonly AgentId[]; readonly reason: string }
  | { readonly kind: 'agents_released'; readonly agentIds: readonly AgentId[]; readonly reason: string }
  | { readonly kind: 'resume_wanted'; readonly agentId: AgentId }

  // Agents
  | {
      readonly kind: 'agent_briefed';
      readonly agentId: AgentId;
      readonly name: string;
      readonly pluginName: string;
      readonly brief: AgentBrief;
      readonly ownProtocol: EscalationProtocol;
      readonly by: string;
    }
  /** An agent of a plan begins a turn. */
  | {
      readonly kind: 'agent_seated';
      readonly agentId: AgentId;
      readonly name: string;
      readonly pluginName: string;
      readonly session: AdapterSessionId;
      readonly seat: RunSeat;
      readonly brief: AgentBrief;
      readonly ownProtocol: EscalationProtocol;
    }
  | { readonly kind: 'agent_back'; readonly agentId: AgentId }
  | { readonly kind: 'agent_gone'; readonly agentId: AgentId }
  | { readonly kind: 'crash_due'; readonly agentId: AgentId }
  | {
      readonly kind: 'crash_judged';
      readonly agentId: AgentId;
      readonly restartAt: Timestamp | null;
      readonly startsFresh?: boolean;
    }
  /** The mode changed: briefs of running agents say something else. */
  | { readonly kind: 'briefs_outdated'; readonly mode: AgentBrief['controlMode'] }

  // Knowledge and coherence
  | {
      readonly kind: 'artifact_reported';
      readonly event: ArtifactEvent;
      readonly ownWorkstream: string;
      /** The workstreams that the agent may read, its own included. */
      readonly readable: readonly string[];
      readonly sources: readonly ArtifactSource[];
    }
  /** Something else that agents may know has changed: a decision, an issue, an agent. */
  | { readonly kind: 'knowledge_moved' }
  | {
      readonly kind: 'artifact_stored';
      readonly event: ArtifactEvent;
      readonly readable: readonly string[];
      readonly sources: readonly ArtifactSource[];
    }
  /** A person agrees with whoever found an issue: an agent's id, or a name. */
  | { readonly kind: 'finder_confirmed'; readonly foundBy: string; readonly title: string }
  | { readonly kind: 'option_raised'; readonly event: OptionDecisionEvent; readonly workstream: string }
);

/** A tool call before the rules, with everything they look at. */
export interface Judged {
  readonly mode: ControlMode;
  readonly case: Case;
}

export interface DecisionRisk {
  readonly severity: Severity;
  readonly confidence: number;
  readonly blastRadius: BlastRadius;
  readonly affectedArtifactIds: readonly ArtifactId[];
  readonly requiresRationale: boolean;
}

/** An artifact that another one was derived from, and its workstream; null if it is not known. */
export interface ArtifactSource {
  readonly artifactId: ArtifactId;
  readonly workstream: string | null;
}
