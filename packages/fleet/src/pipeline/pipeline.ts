import {
  type AdapterSessionId,
  type AgentEvent,
  type AgentId,
  type EventEnvelope,
  type Json,
  type Timestamp,
  truncateUtf8,
  unreachable,
} from '@signalbox/model';
import type { Effect } from '../effects.ts';
import type { Fact } from '../facts.ts';
import type { InnerFact } from '../inner-facts.ts';
import { inTurn, kept, type Step } from '../step.ts';
import { checkEvent } from './check-event.ts';
import { endOrder, freshOrder, inOrder, type Ordered, orderAfter, withoutReplay } from './event-order.ts';
import {
  type AgentIntake,
  counted,
  type MarkedEvent,
  newIntake,
  type PipelineConfig,
  type PipelineState,
} from './pipeline-state.ts';
import { quarantined } from './quarantine.ts';

export type PipelineFact =
  | Extract<Fact, { kind: 'events_dropped' | 'replay_unavailable' }>
  | Extract<InnerFact, { kind: 'event_arrived' | 'session_began' | 'session_ended' | 'ticked' }>;

const ENDED_SESSIONS_KEPT = 32;
const TEXT_MAX_BYTES = 4_096;

/**
 * What agents send, on its way to the log: checked, repaired, or put into quarantine; in order; each once.
 *
 * P1  An event is accepted at most once, also after a restart: what is known is in the state.
 * P2  Nothing is thrown away silently. A message is accepted, waits, or is counted as what it was: duplicate, quarantined, refused, dropped.
 * P3  Events of an agent are accepted in the order of their sequences; giving up a gap is said.
 * P4  An adapter speaks only for its agent and its session.
 */
export function stepPipeline(
  state: PipelineState,
  fact: PipelineFact,
  config: PipelineConfig,
  tick: number,
): Step<PipelineState> {
  switch (fact.kind) {
    case 'event_arrived':
      return arrived(state, fact, config, tick);
    case 'session_began':
      return began(state, fact.agentId, fact.session, fact.at, tick);
    case 'session_ended':
      return ended(state, fact.agentId, fact.at, tick);
    case 'events_dropped': {
      const intake = counted(intakeOf(state, fact.agentId), { dropped: fact.count });
      return {
        state: withIntake(state, fact.agentId, intake),
        effects: [own(fact.at, dropNotice(fact.agentId, fact.count))],
      };
    }
    case 'replay_unavailable': {
      const range = { from: fact.fromSequence, to: fact.toSequence };
      return settled(state, fact.agentId, fact.at, withoutReplay(intakeOf(state, fact.agentId), range, tick));
    }
    case 'ticked':
      return inTurn(state, Object.keys(state.agents) as AgentId[], (before, agent) =>
        settled(before, agent, fact.at, orderAfter(intakeOf(before, agent), config, tick)),
      );
    default:
      return unreachable(fact);
  }
}

function arrived(
  state: PipelineState,
  fact: Extract<PipelineFact, { kind: 'event_arrived' }>,
  config: PipelineConfig,
  tick: number,
): Step<PipelineState> {
  const { agentId, at, payload } = fact;
  const before = counted(intakeOf(state, agentId), { received: 1 });
  if (fact.isSilenced) {
    const after = counted(before, { refused: 1 });
    return {
      state: withIntake(state, agentId, after),
      effects: [{ kind: 'event_refused', at, agentId, refused: after.counts.refused }],
    };
  }
  const current = withIntake(state, agentId, before);
  const checked = checkEvent(payload, fact);
  switch (checked.kind) {
    case 'invalid':
      return refused(current, fact, checked.reason, checked.errors);
    case 'text':
      return {
        state: withIntake(current, agentId, counted(before, { texts: 1 })),
        effects: [own(at, { type: 'status', agentId, message: truncateUtf8(checked.text, TEXT_MAX_BYTES) })],
      };
    case 'event': {
      const { event, repairs, unknownFields } = checked;
      if (before.endedSessions.includes(event.runId)) {
        return refused(current, fact, `Session ${event.runId} of this agent has ended.`);
      }
      const started = event.runId === before.session ? kept(current) : began(current, agentId, event.runId, at, tick);
      const envelope: EventEnvelope = { ...event, ingestedAt: at };
      const marked: MarkedEvent = { envelope, marks: { repairs, unknownFields, isLate: false, isOwn: false } };
      const ordered = inOrder(intakeOf(started.state, agentId), marked, config, tick);
      const next =
        ordered.fault === undefined
          ? settled(started.state, agentId, at, ordered)
          : refused(started.state, fact, ordered.fault);
      return { state: next.state, effects: [...started.effects, ...next.effects] };
    }
    default:
      return unreachable(checked);
  }
}

/** A session begins: the one before is over, and what waited of it does not wait any longer. */
function began(
  state: PipelineState,
  agentId: AgentId,
  session: AdapterSessionId,
  at: Timestamp,
  tick: number,
): Step<PipelineState> {
  const intake = intakeOf(state, agentId);
  if (intake.session === session || intake.endedSessions.includes(session)) return kept(state);
  const over = ended(state, agentId, at, tick);
  const after = { ...intakeOf(over.state, agentId), session };
  return { state: withIntake(over.state, agentId, after), effects: over.effects };
}

function ended(state: PipelineState, agentId: AgentId, at: Timestamp, tick: number): Step<PipelineState> {
  const over = settled(state, agentId, at, endOrder(intakeOf(state, agentId), tick));
  const before = intakeOf(over.state, agentId);
  if (before.session === null) return over;
  const endedSessions = [...before.endedSessions, before.session].slice(-ENDED_SESSIONS_KEPT);
  const after = { ...freshOrder(before), session: null, endedSessions };
  return { state: withIntake(over.state, agentId, after), effects: over.effects };
}

/** Keeps what became of events, and says it. */
function settled(state: PipelineState, agentId: AgentId, at: Timestamp, ordered: Ordered): Step<PipelineState> {
  const { ready, lost, replay } = ordered;
  const repaired = ready.filter(event => event.marks.repairs.length > 0).length;
  const unknownFields = ready.reduce((sum, event) => sum + event.marks.unknownFields, 0);
  const rawProvider = ready.filter(event => event.envelope.event.type === 'raw_provider').length;
  const intake =
    ready.length === 0
      ? ordered.intake
      : counted(ordered.intake, { accepted: ready.length, repaired, unknownFields, rawProvider });
  const { session } = intake;
  const effects: (Effect | InnerFact)[] = lost.flatMap(({ from, to }) => [
    own(at, lossNotice(agentId, from, to)),
    { kind: 'request_snapshot', agentId } as const,
  ]);
  effects.push(...ready.map(event => ({ kind: 'event_accepted', at, ...event }) as const));
  if (replay !== undefined && session !== null) {
    effects.push({ kind: 'request_replay', agentId, runId: session, fromSequence: replay.from, toSequence: replay.to });
  }
  return { state: withIntake(state, agentId, intake), effects };
}

function refused(
  state: PipelineState,
  { agentId, at, payload }: { readonly agentId: AgentId; readonly at: Timestamp; readonly payload: Json },
  reason: string,
  errors: readonly string[] = [reason],
): Step<PipelineState> {
  const [quarantine, message] = quarantined(state.quarantine, { agentId, at, payload, reason, errors });
  const intake = counted(intakeOf(state, agentId), { quarantined: 1 });
  return {
    state: { ...withIntake(state, agentId, intake), quarantine },
    effects: [{ kind: 'save_quarantined', message }],
  };
}

function intakeOf(state: PipelineState, agentId: AgentId): AgentIntake {
  return state.agents[agentId] ?? newIntake;
}

function withIntake(state: PipelineState, agentId: AgentId, intake: AgentIntake): PipelineState {
  return state.agents[agentId] === intake ? state : { ...state, agents: { ...state.agents, [agentId]: intake } };
}

function own(at: Timestamp, event: AgentEvent): InnerFact {
  return { kind: 'own_event', at, event };
}

function dropNotice(agentId: AgentId, dropped: number): AgentEvent {
  return {
    type: 'error',
    agentId,
    severity: 'warning',
    message: `backpressure: ${dropped} events dropped for agent ${agentId}`,
    recoverable: true,
    errorCode: 'backpressure',
    category: 'internal',
  };
}

function lossNotice(agentId: AgentId, from: number, to: number): AgentEvent {
  return {
    type: 'status',
    agentId,
    message: `Event gap detected: sequences ${from}-${to} lost for agent ${agentId}`,
  };
}
