import { type AgentId, type BrakedAgent, type Timestamp, unreachable } from '@signalbox/model';
import type { Effect } from '../effects.ts';
import type { Fact } from '../facts.ts';
import type { InnerFact } from '../inner-facts.ts';
import { inTurn, kept, type Step } from '../step.ts';
import { brakesOn, type ControlState, type EngagedBrake } from './control-state.ts';

export type ControlFact =
  | Extract<Fact, { kind: 'mode_changed' | 'brake_released' | 'time_passed' | 'agent_stopped' | 'stop_failed' }>
  | Extract<InnerFact, { kind: 'brake_engaged' | 'event_refused' | 'decision_closed' | 'tool_allowed' | 'agent_back' }>;

const RELEASED_KEPT = 50;

/**
 * How much agents may do: the project's mode, brakes, and what people allowed for a session.
 *
 * C1  The mode of the project counts from the moment it changes, whatever the briefs of running agents say.
 * C2  An agent is held while any brake holds it, and what it sends once it is silent is refused and counted.
 * C3  A brake says of each agent how long it took to silence; nobody is called silent who was not reported so.
 * C4  What a person allowed for a session ends with the session and with the mode.
 */
export function stepControl(state: ControlState, fact: ControlFact, _config: null, tick: number): Step<ControlState> {
  switch (fact.kind) {
    case 'mode_changed':
      return fact.mode === state.mode
        ? kept(state)
        : {
            state: { ...state, mode: fact.mode, allowed: {} },
            effects: [
              control(fact.at, tick, fact.by, 'mode_changed', `${state.mode} → ${fact.mode}`),
              { kind: 'briefs_outdated', at: fact.at, mode: fact.mode },
              { kind: 'sync_state' },
            ],
          };
    case 'brake_engaged':
      return engaged(state, fact, tick);
    case 'agent_stopped':
      return inTurn(state, brakesOn(state, fact.agentId), (before, brake) => silenced(before, brake, fact));
    case 'stop_failed':
      return inTurn(state, brakesOn(state, fact.agentId), (before, brake) =>
        saved(before, { ...brake, agents: withOutcome(brake, fact.agentId, { outcome: 'failed' }) }),
      );
    case 'event_refused':
      return inTurn(state, brakesOn(state, fact.agentId), (before, brake) => refused(before, brake, fact, tick));
    case 'brake_released': {
      const brake = state.brakes[fact.brakeId];
      return brake === undefined ? kept(state) : released(state, brake, fact.at, fact.by, 'manual', tick);
    }
    case 'time_passed':
      return inTurn(state, Object.values(state.brakes), (before, brake) =>
        isTimeUp(brake, fact.at) ? released(before, brake, fact.at, 'system', 'timer', tick) : kept(before),
      );
    case 'decision_closed':
      return inTurn(state, Object.values(state.brakes), (before, brake) =>
        waitsFor(brake, fact.decisionId) ? released(before, brake, fact.at, 'system', 'decision', tick) : kept(before),
      );
    case 'tool_allowed': {
      const before = state.allowed[fact.agentId];
      const tools = before?.session === fact.session ? before.tools : [];
      const next = { session: fact.session, tools: [...new Set([...tools, fact.toolName])] };
      return kept({ ...state, allowed: { ...state.allowed, [fact.agentId]: next } });
    }
    case 'agent_back': {
      if (state.allowed[fact.agentId] === undefined) return kept(state);
      const { [fact.agentId]: _ended, ...allowed } = state.allowed;
      return kept({ ...state, allowed });
    }
    default:
      return unreachable(fact);
  }
}

/** The order goes to every agent of the scope at once; their decisions wait, and their trust shows that a person had to step in. */
function engaged(
  state: ControlState,
  { at, brakeId, action, agents }: Extract<ControlFact, { kind: 'brake_engaged' }>,
  tick: number,
): Step<ControlState> {
  if (state.brakes[brakeId] !== undefined) return kept(state);
  const brake: EngagedBrake = {
    id: brakeId,
    action,
    engagedAt: at,
    engagedAtTick: tick,
    agents: agents.map(({ agentId, isRunning }) => ({
      agentId,
      silentAfterMs: isRunning ? null : 0,
      outcome: isRunning ? 'pending' : 'already_stopped',
      refusedEvents: 0,
    })),
  };
  const ids = agents.map(({ agentId }) => agentId);
  const isBraked = (agent: AgentId) => brakesOn(state, agent).length > 0;
  const first = saved(state, brake);
  return {
    state: first.state,
    effects: [
      ...first.effects,
      control(at, tick, action.initiatedBy, 'brake_engaged', action.reason),
      ...agents.flatMap(({ agentId, isRunning, canPause }): Effect[] =>
        isRunning
          ? [
              {
                kind: 'stop_agent',
                agentId,
                how: action.behavior === 'kill' ? 'kill' : canPause ? 'pause' : 'abort',
                reason: action.reason,
              },
            ]
          : [],
      ),
      { kind: 'agents_stopped', at, agentIds: ids, reason: `Brake: ${action.reason}` },
      ...agents
        .filter(({ agentId, isRunning }) => isRunning && !isBraked(agentId))
        .map(
          ({ agentId }) =>
            ({
              kind: 'trust_outcome',
              at,
              agentId,
              outcome: 'human_overrides_via_brake',
              reason: action.reason,
            }) as const,
        ),
    ],
  };
}

function silenced(
  state: ControlState,
  brake: EngagedBrake,
  { agentId, how, silentAt }: Extract<ControlFact, { kind: 'agent_stopped' }>,
): Step<ControlState> {
  const found = brake.agents.find(agent => agent.agentId === agentId);
  if (found === undefined || (found.outcome !== 'pending' && found.outcome !== 'failed')) return kept(state);
  const silentAfterMs = Math.max(0, Date.parse(silentAt) - Date.parse(brake.engagedAt));
  return saved(state, { ...brake, agents: withOutcome(brake, agentId, { outcome: how, silentAfterMs }) });
}

function refused(
  state: ControlState,
  brake: EngagedBrake,
  { at, agentId }: Extract<ControlFact, { kind: 'event_refused' }>,
  tick: number,
): Step<ControlState> {
  const count = (brake.agents.find(agent => agent.agentId === agentId)?.refusedEvents ?? 0) + 1;
  const step = saved(state, { ...brake, agents: withOutcome(brake, agentId, { refusedEvents: count }) });
  if (count > 1) return step;
  const message = `Agent ${agentId} sent an event after it was stopped by a brake. It was refused.`;
  return {
    state: step.state,
    effects: [
      ...step.effects,
      control(at, tick, agentId, 'event_refused', message, agentId),
      {
        kind: 'own_event',
        at,
        event: {
          type: 'error',
          agentId,
          severity: 'high',
          message,
          recoverable: true,
          errorCode: 'event_after_brake',
          category: 'internal',
        },
      },
    ],
  };
}

/** Agents that no other brake holds go on; those that were killed stay as they are until somebody starts them. */
function released(
  state: ControlState,
  brake: EngagedBrake,
  at: Timestamp,
  by: string,
  cause: NonNullable<EngagedBrake['released']>['cause'],
  tick: number,
): Step<ControlState> {
  if (brake.released !== undefined) return kept(state);
  const after = { ...brake, released: { by, at, tick, cause } };
  const step = saved(state, after);
  const free = brake.agents.filter(({ agentId }) => brakesOn(step.state, agentId).length === 0);
  const goOn = brake.action.behavior === 'pause' ? free : free.filter(({ outcome }) => outcome === 'already_stopped');
  const stopped = goOn.filter(agent => agent.outcome !== 'already_stopped' || wasHeld(state, brake, agent.agentId));
  return {
    state: withoutOldBrakes(step.state),
    effects: [
      ...step.effects,
      control(at, tick, by, 'brake_released', `Released: ${cause}`),
      ...stopped.map(({ agentId }) => ({ kind: 'resume_wanted', at, agentId }) as const),
      { kind: 'agents_released', at, agentIds: goOn.map(({ agentId }) => agentId), reason: 'The brake was released.' },
    ],
  };
}

/** True if another brake had stopped the agent, and was released while this one held it. */
function wasHeld({ brakes }: ControlState, brake: EngagedBrake, agentId: AgentId): boolean {
  return Object.values(brakes).some(
    other =>
      other.id !== brake.id &&
      other.action.behavior === 'pause' &&
      other.released !== undefined &&
      Date.parse(other.released.at) >= Date.parse(brake.engagedAt) &&
      other.agents.some(
        agent => agent.agentId === agentId && agent.silentAfterMs !== null && agent.outcome !== 'already_stopped',
      ),
  );
}

function isTimeUp({ action, engagedAt, released: over }: EngagedBrake, at: Timestamp): boolean {
  const condition = action.releaseCondition;
  if (over !== undefined || condition?.type !== 'timer') return false;
  return Date.parse(at) - Date.parse(engagedAt) >= condition.releaseAfterMs;
}

function waitsFor({ action, released: over }: EngagedBrake, decisionId: string): boolean {
  const condition = action.releaseCondition;
  return over === undefined && condition?.type === 'decision' && condition.decisionId === decisionId;
}

function withOutcome({ agents }: EngagedBrake, agentId: AgentId, change: Partial<BrakedAgent>): readonly BrakedAgent[] {
  return agents.map(agent => (agent.agentId === agentId ? { ...agent, ...change } : agent));
}

function saved(state: ControlState, brake: EngagedBrake): Step<ControlState> {
  return {
    state: { ...state, brakes: { ...state.brakes, [brake.id]: brake } },
    effects: [{ kind: 'save_brake', brake }],
  };
}

function withoutOldBrakes(state: ControlState): ControlState {
  const over = Object.values(state.brakes).filter(({ released: ended }) => ended !== undefined);
  if (over.length <= RELEASED_KEPT) return state;
  const oldest = over.sort((a, b) => Date.parse(a.engagedAt) - Date.parse(b.engagedAt))[0];
  const { [oldest?.id ?? '']: _gone, ...brakes } = state.brakes;
  return { ...state, brakes };
}

function control(at: Timestamp, tick: number, by: string, action: string, reason: string, agentId?: AgentId): Effect {
  return {
    kind: 'audit',
    entry: { subject: 'control', at, tick, by, action, reason, ...(agentId === undefined ? {} : { agentId }) },
  };
}
