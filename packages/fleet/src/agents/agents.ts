import type { BriefChanges } from '@signalbox/model';
import { type AgentId, CHECKPOINTS_KEPT, defined, type Timestamp, unreachable } from '@signalbox/model';
import { joinedProtocol } from '../control/mode-protocols.ts';
import type { ActEffect, RefusalCode } from '../effects.ts';
import type { Fact } from '../facts.ts';
import type { InnerFact } from '../inner-facts.ts';
import { inTurn, kept, type Step } from '../step.ts';
import { withoutTrust } from '../trust/without-trust.ts';
import { lifecycle, noted, saved, spawned, starting } from './agent-changes.ts';
import { type AgentRecord, type AgentState, isLive, MISSED_POLLS } from './agent-state.ts';
import { actionFor } from './plugin-error-actions.ts';
import { crashed, recovered, recoveryAnswered } from './recovery.ts';

export type AgentFact =
  | Extract<
      Fact,
      {
        kind:
          | 'plugin_registered'
          | 'agent_started'
          | 'pause_requested'
          | 'resume_requested'
          | 'kill_requested'
          | 'restart_requested'
          | 'agent_stopped'
          | 'agent_crashed'
          | 'health_polled'
          | 'checkpoint_stored'
          | 'brief_changed'
          | 'plugin_failed'
          | 'time_passed'
          | 'agent_left'
          | 'run_decision_asked'
          | 'run_decision_answered';
      }
    >
  | Extract<
      InnerFact,
      {
        kind:
          | 'agent_briefed'
          | 'agent_seated'
          | 'event_accepted'
          | 'resume_wanted'
          | 'crash_judged'
          | 'briefs_outdated'
          | 'decision_closed';
      }
    >;

/** How many answers are remembered, so that none counts twice. */
const ANSWERED_KEPT = 200;

/**
 * The agents of a project, each with one life after another.
 *
 * A1  An agent has at most one session. A new one begins when its adapter says so, and counts its events from 0 (R23).
 * A2  What leaves for an agent never holds trust (R14).
 * A3  An agent that was killed on purpose is gone: its decisions are orphans. One that crashed, or that a brake stopped, comes back.
 * A4  A call of a plugin is made three times at most (R17).
 */
export function stepAgents(state: AgentState, fact: AgentFact, _config: null, tick: number): Step<AgentState> {
  switch (fact.kind) {
    case 'plugin_registered': {
      const { pluginName, version, capabilities, toolClassifications } = fact;
      const plugin = { pluginName, version, capabilities, toolClassifications };
      return kept({ ...state, plugins: { ...state.plugins, [pluginName]: plugin } });
    }
    case 'agent_briefed':
      return briefed(state, fact, tick);
    case 'agent_seated':
      return seated(state, fact, tick);
    case 'event_accepted':
      return reported(state, fact, tick);
    case 'time_passed':
      return inTurn(state, Object.values(state.agents), (before, agent) =>
        agent.restartAt !== null && Date.parse(agent.restartAt) <= Date.parse(fact.at)
          ? saved(before, { ...agent, restartAt: null }, [{ kind: 'resume_wanted', at: fact.at, agentId: agent.id }])
          : kept(before),
      );
    case 'briefs_outdated':
      return inTurn(state, Object.values(state.agents), (before, agent) => {
        // The rules of its run hold for an agent of a plan.
        if (agent.seat !== undefined) return kept(before);
        const escalationProtocol = joinedProtocol(fact.mode, agent.ownProtocol);
        return rebriefed(
          before,
          agent,
          { controlMode: fact.mode, escalationProtocol },
          fact.at,
          tick,
          `Mode: ${fact.mode}`,
        );
      });
    case 'decision_closed': {
      const agent = state.agents[fact.agentId];
      return agent === undefined ? kept(state) : recoveryAnswered(state, agent, fact, tick);
    }
    default: {
      const agent = state.agents[fact.agentId];
      return agent === undefined
        ? refusal(state, fact.agentId, 'agent_unknown', `There is no agent ${fact.agentId}.`)
        : ofAgent(state, agent, fact, tick);
    }
  }
}

type OneAgentFact = Exclude<
  AgentFact,
  {
    kind:
      | 'plugin_registered'
      | 'agent_briefed'
      | 'agent_seated'
      | 'event_accepted'
      | 'time_passed'
      | 'briefs_outdated'
      | 'decision_closed';
  }
>;

function ofAgent(state: AgentState, agent: AgentRecord, fact: OneAgentFact, tick: number): Step<AgentState> {
  const { at } = fact;
  switch (fact.kind) {
    case 'agent_started':
      return started(state, agent, fact, tick);
    case 'pause_requested': {
      if (!isLive(agent)) return refusal(state, agent.id, 'agent_not_live', `Agent ${agent.id} is ${agent.status}.`);
      const how = state.plugins[agent.pluginName]?.capabilities.supportsPause === true ? 'pause' : 'abort';
      return saved(state, noted({ ...agent, wanted: 'pause' }, at, tick, `Pause requested by ${fact.by}`), [
        { kind: 'stop_agent', agentId: agent.id, how, reason: fact.reason },
      ]);
    }
    case 'resume_requested':
    case 'resume_wanted': {
      if (isLive(agent)) return kept(state);
      const isAsked = fact.kind === 'resume_requested';
      return recovered(state, isAsked ? { ...agent, crashes: 0 } : agent, at, tick, isAsked || !agent.startsFresh);
    }
    case 'kill_requested': {
      const ended = noted(
        { ...agent, wanted: 'kill', restartAt: null },
        at,
        tick,
        `Kill requested by ${fact.by}: ${fact.reason}`,
      );
      const gone: InnerFact = { kind: 'agent_gone', at, agentId: agent.id };
      return isLive(agent)
        ? saved(state, ended, [{ kind: 'stop_agent', agentId: agent.id, how: 'kill', reason: fact.reason }, gone])
        : saved(state, { ...ended, status: 'killed', session: null }, [
            gone,
            { kind: 'session_ended', at, agentId: agent.id },
            lifecycle(agent.id, at, 'killed', fact.reason),
          ]);
    }
    case 'restart_requested':
      return isLive(agent)
        ? saved(state, noted({ ...agent, wanted: 'restart' }, at, tick, `Restart requested by ${fact.by}`), [
            // A kill would fail the work of a plan's agent: its turn is only begun again.
            {
              kind: 'stop_agent',
              agentId: agent.id,
              how: agent.seat === undefined ? 'kill' : 'abort',
              reason: 'Restart',
            },
          ])
        : saved(state, starting(agent), [spawned(agent)]);
    case 'agent_stopped':
      return stopped(state, agent, fact, tick);
    case 'agent_crashed':
      return crashed(state, agent, at, fact.reason, tick);
    case 'health_polled': {
      if (!isLive(agent)) return kept(state);
      if (fact.isHealthy) return agent.missedPolls === 0 ? kept(state) : saved(state, { ...agent, missedPolls: 0 });
      const missedPolls = agent.missedPolls + 1;
      return missedPolls < MISSED_POLLS
        ? saved(state, { ...agent, missedPolls })
        : crashed(state, agent, at, `${MISSED_POLLS} health checks failed`, tick);
    }
    case 'checkpoint_stored':
      return saved(state, withCheckpoint(agent, fact.state));
    case 'brief_changed': {
      const { controlMode: _mode, escalationProtocol: own, ...changes } = fact.changes;
      const rules = own === undefined ? {} : { escalationProtocol: joinedProtocol(agent.brief.controlMode, own) };
      const owner = own === undefined ? agent : { ...agent, ownProtocol: own };
      return rebriefed(state, owner, { ...changes, ...rules }, at, tick, `Brief changed by ${fact.by}`);
    }
    case 'plugin_failed':
      return failed(state, agent, fact, tick);
    case 'agent_left':
      return left(state, agent, fact, tick);
    case 'run_decision_asked':
      return saved(state, { ...agent, asks: [...asksWithout(agent, fact.decisionId), fact.decisionId] });
    case 'run_decision_answered': {
      const answered = [...(agent.answered ?? []).filter(id => id !== fact.decisionId), fact.decisionId];
      const after = { ...agent, asks: asksWithout(agent, fact.decisionId), answered: answered.slice(-ANSWERED_KEPT) };
      return saved(state, after);
    }
    case 'crash_judged':
      return saved(state, { ...agent, restartAt: fact.restartAt, startsFresh: fact.startsFresh ?? agent.startsFresh });
    default:
      return unreachable(fact);
  }
}

const asksWithout = ({ asks = [] }: AgentRecord, id: NonNullable<AgentRecord['asks']>[number]) =>
  asks.filter(one => one !== id);

/** An agent of a plan begins a turn: another session of the same agent. */
function seated(
  state: AgentState,
  { at, agentId, name, pluginName, session, seat, brief, ownProtocol }: Extract<AgentFact, { kind: 'agent_seated' }>,
  tick: number,
): Step<AgentState> {
  const before = state.agents[agentId];
  const record: AgentRecord = {
    ...(before ?? unborn(at)),
    ...{ id: agentId, name, pluginName, brief, ownProtocol, seat, session },
    ...{ status: 'running', wanted: 'run', sessionId: '', lives: (before?.lives ?? 0) + 1, startedAt: at },
    ...{ pendingBriefChanges: null, missedPolls: 0, restartAt: null },
  };
  const isAgain = before !== undefined;
  return saved(state, noted(record, at, tick, `${isAgain ? 'Began again' : 'Began'} in run ${seat.run}`), [
    { kind: 'session_began', at, agentId, session },
    { kind: 'agent_back', at, agentId },
    lifecycle(agentId, at, isAgain ? 'resumed' : 'started'),
  ]);
}

/** Its run begins another turn of it, or none: nobody is asked what to do about it here. */
function left(
  state: AgentState,
  agent: AgentRecord,
  { at, as, reason }: Extract<AgentFact, { kind: 'agent_left' }>,
  tick: number,
): Step<AgentState> {
  if (!isLive(agent) || agent.seat === undefined) return kept(state);
  const status = ({ done: 'completed', failed: 'error', waiting: 'paused', interrupted: 'paused' } as const)[as];
  // What its run still asks is told again when it begins again.
  const before = as === 'waiting' ? agent : { ...agent, asks: [] };
  const ended: AgentRecord =
    agent.wanted === 'kill' ? { ...before, status: 'killed', session: null } : { ...before, status };
  return saved(state, noted(ended, at, tick, reason), [{ kind: 'session_ended', at, agentId: agent.id }]);
}

function briefed(
  state: AgentState,
  fact: Extract<AgentFact, { kind: 'agent_briefed' }>,
  tick: number,
): Step<AgentState> {
  const before = state.agents[fact.agentId];
  const { lives, requestedAt, eventsEmitted, lastEventAt, totalCrashes, history } = before ?? unborn(fact.at);
  const record: AgentRecord = {
    ...unborn(fact.at),
    ...{ lives, requestedAt, eventsEmitted, lastEventAt, totalCrashes, history },
    id: fact.agentId,
    name: fact.name,
    pluginName: fact.pluginName,
    brief: fact.brief,
    ownProtocol: fact.ownProtocol,
    status: 'starting',
  };
  return saved(state, noted(record, fact.at, tick, `Requested by ${fact.by}`), [spawned(record)]);
}

/** What an agent is before anything is known of it. */
function unborn(at: Timestamp): Omit<AgentRecord, 'id' | 'name' | 'pluginName' | 'brief' | 'ownProtocol' | 'status'> {
  return {
    wanted: 'run',
    session: null,
    sessionId: null,
    lives: 0,
    requestedAt: at,
    startedAt: null,
    eventsEmitted: 0,
    lastEventAt: null,
    pendingBriefChanges: null,
    checkpoints: [],
    crashes: 0,
    totalCrashes: 0,
    missedPolls: 0,
    restartAt: null,
    startsFresh: false,
    history: [],
  };
}

/** The adapter runs the agent. Whatever it did not know of its brief, it knows now. */
function started(
  state: AgentState,
  agent: AgentRecord,
  { at, session, sessionId }: Extract<AgentFact, { kind: 'agent_started' }>,
  tick: number,
): Step<AgentState> {
  if (agent.session === session && isLive(agent)) {
    return agent.status === 'running' ? kept(state) : saved(state, { ...agent, status: 'running', sessionId });
  }
  const isAgain = agent.lives > 0;
  const after: AgentRecord = {
    ...agent,
    status: 'running',
    wanted: agent.wanted === 'kill' ? 'kill' : 'run',
    session,
    sessionId,
    lives: agent.lives + 1,
    startedAt: at,
    missedPolls: 0,
    restartAt: null,
    pendingBriefChanges: null,
  };
  return saved(state, noted(after, at, tick, isAgain ? 'Started again' : 'Started'), [
    { kind: 'session_began', at, agentId: agent.id, session },
    { kind: 'agent_back', at, agentId: agent.id },
    lifecycle(agent.id, at, isAgain ? 'resumed' : 'started'),
    // A kill that was asked for while it started still counts.
    ...(agent.wanted === 'kill'
      ? [{ kind: 'stop_agent', agentId: agent.id, how: 'kill', reason: 'Killed while starting' } as const]
      : []),
  ]);
}

function stopped(
  state: AgentState,
  agent: AgentRecord,
  { at, how, state: serialized }: Extract<AgentFact, { kind: 'agent_stopped' }>,
  tick: number,
): Step<AgentState> {
  const saving = serialized === undefined ? agent : withCheckpoint(agent, serialized);
  const what = lifecycle(agent.id, at, how);
  const ends: InnerFact[] = how === 'killed' ? [{ kind: 'session_ended', at, agentId: agent.id }] : [];
  const noting = (status: AgentRecord['status']) =>
    noted(
      { ...saving, status, session: how === 'killed' ? null : agent.session },
      at,
      tick,
      how === 'killed' ? 'Killed' : 'Paused',
    );
  switch (agent.wanted) {
    case 'restart':
      return saved(state, starting(noting('killed')), [what, ...ends, spawned(agent)]);
    case 'kill':
      return saved(state, noting('killed'), [what, ...ends]);
    case 'pause':
    case 'run':
      // A plugin that cannot pause ends its process; with what it saved, the agent is paused all the same.
      return saved(state, noting(how === 'paused' || serialized !== undefined ? 'paused' : 'killed'), [what, ...ends]);
    default:
      return unreachable(agent.wanted);
  }
}

function reported(
  state: AgentState,
  { envelope, marks, at }: Extract<AgentFact, { kind: 'event_accepted' }>,
  tick: number,
): Step<AgentState> {
  const { event } = envelope;
  const agent = state.agents[event.agentId];
  if (agent === undefined || marks.isOwn) return kept(state);
  const counted: AgentRecord = { ...agent, eventsEmitted: agent.eventsEmitted + 1, lastEventAt: at, missedPolls: 0 };
  // The event of a new session may be here before the answer to the call that began it.
  const live: AgentRecord =
    counted.status === 'starting' ? { ...counted, status: 'running', session: envelope.runId } : counted;
  switch (event.type) {
    case 'completion': {
      const isWhole = event.outcome === 'success';
      const outcome = completionOutcomes[event.outcome];
      const after = noted(
        { ...live, status: 'completed', crashes: isWhole ? 0 : live.crashes },
        at,
        tick,
        `Completed: ${event.outcome}`,
      );
      return saved(state, after, [
        { kind: 'trust_outcome', at, agentId: agent.id, outcome, reason: `Its task ended: ${event.outcome}` },
      ]);
    }
    case 'lifecycle':
      return saved(state, noted(live, at, tick, `Reported: ${event.action}`));
    default:
      return saved(state, live);
  }
}

const completionOutcomes = {
  success: 'task_completed_success',
  partial: 'task_completed_partial',
  abandoned: 'task_abandoned_or_max_turns',
  max_turns: 'task_abandoned_or_max_turns',
} as const;

/** A running agent hears of it at once if its plugin can tell it, else when it starts again. */
function rebriefed(
  state: AgentState,
  agent: AgentRecord,
  changes: BriefChanges,
  at: Timestamp,
  tick: number,
  what: string,
): Step<AgentState> {
  const brief = { ...agent.brief, ...defined(changes), agentId: agent.id };
  const after = noted({ ...agent, brief }, at, tick, what);
  if (!isLive(agent)) return saved(state, after);
  if (state.plugins[agent.pluginName]?.capabilities.supportsHotBriefUpdate === true) {
    return saved(state, after, [{ kind: 'update_brief', agentId: agent.id, changes: withoutTrust(changes) }]);
  }
  const pendingBriefChanges = { ...agent.pendingBriefChanges, ...withoutTrust(changes) };
  return saved(state, { ...after, pendingBriefChanges });
}

function failed(
  state: AgentState,
  agent: AgentRecord,
  { at, call, attempt, error }: Extract<AgentFact, { kind: 'plugin_failed' }>,
  tick: number,
): Step<AgentState> {
  const action = actionFor(error, attempt);
  const again: ActEffect = { kind: 'retry_call', agentId: agent.id, call, attempt: attempt + 1, afterMs: 0 };
  const fault = (message: string, recoverable: boolean): InnerFact => ({
    kind: 'own_event',
    at,
    event: {
      type: 'error',
      agentId: agent.id,
      severity: recoverable ? 'medium' : 'high',
      message,
      recoverable,
      errorCode: error.code,
      category: 'provider',
    },
  });
  switch (action.do) {
    case 'retry':
      return saved(state, agent, [
        { kind: 'own_event', at, event: { type: 'status', agentId: agent.id, message: action.message } },
        { ...again, afterMs: action.afterMs },
      ]);
    case 'compact':
      return saved(state, agent, [{ kind: 'compact_conversation', agentId: agent.id }, again]);
    case 'respawn':
      return saved(state, noted({ ...agent, wanted: 'restart' }, at, tick, action.message), [
        fault(action.message, true),
        { kind: 'stop_agent', agentId: agent.id, how: 'kill', reason: action.message },
      ]);
    case 'fail':
      return saved(state, noted({ ...agent, status: 'error' }, at, tick, action.message), [
        fault(action.message, false),
      ]);
    case 'note': {
      const reason = action.message;
      const entry = {
        subject: 'agent',
        at,
        tick,
        by: 'system',
        action: error.code,
        reason,
        agentId: agent.id,
      } as const;
      return saved(state, agent, [
        { kind: 'audit', entry },
        // Nobody waits for this answer any longer, so it is not delivered again.
        ...(error.code === 'decision_not_found'
          ? [{ kind: 'answer_moot', at, decisionId: error.decisionId, agentId: agent.id } as const]
          : []),
      ]);
    }
    default:
      return unreachable(action.do);
  }
}

function withCheckpoint(agent: AgentRecord, state: AgentRecord['checkpoints'][number]): AgentRecord {
  return { ...agent, checkpoints: [...agent.checkpoints, state].slice(-CHECKPOINTS_KEPT) };
}

function refusal(state: AgentState, agentId: AgentId, code: RefusalCode, reason: string): Step<AgentState> {
  return { state, effects: [{ kind: 'request_refused', agentId, code, reason }] };
}
