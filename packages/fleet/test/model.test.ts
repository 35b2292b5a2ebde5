import {
  type AgentId,
  type ApprovalId,
  type ControlMode,
  deriveId,
  type EventId,
  type Json,
  type Resolution,
} from '@signalbox/model';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sized } from '../../../test/sized.ts';
import { defaultFleetConfig } from '../src/config.ts';
import { type Effect, type FleetState, fact, fleetState, foldFleet } from '../src/index.ts';
import {
  agentNamed,
  approve,
  brakeNamed,
  choose,
  decisionNamed,
  optionDecision,
  reject,
  type Scene,
  scene,
  sessionNamed,
  timeAt,
  toolApproval,
} from './scene.ts';

const AGENTS = ['ada', 'bob', 'cyd'] as const;
const MODES: readonly ControlMode[] = ['orchestrator', 'adaptive', 'ecosystem'];

type Move =
  | {
      readonly do: 'emit';
      readonly agent: number;
      readonly what: 'option' | 'bare_option' | 'write' | 'deploy' | 'read' | 'status';
      readonly skip: boolean;
    }
  | { readonly do: 'resend'; readonly which: number }
  | { readonly do: 'late'; readonly which: number }
  | { readonly do: 'answer'; readonly which: number; readonly how: 'yes' | 'no'; readonly twice: boolean }
  | { readonly do: 'acknowledge'; readonly which: number }
  | { readonly do: 'tick'; readonly by: number }
  | { readonly do: 'pass'; readonly ms: number }
  | {
      readonly do: 'brake';
      readonly agent: number | null;
      readonly behavior: 'pause' | 'kill';
      readonly release: 'manual' | 'timer' | 'decision';
    }
  | { readonly do: 'silence'; readonly agent: number }
  | { readonly do: 'release'; readonly which: number }
  | { readonly do: 'kill' | 'crash' | 'respawn' | 'resume'; readonly agent: number }
  | { readonly do: 'mode'; readonly mode: ControlMode }
  | { readonly do: 'restart' };

const agent = fc.nat({ max: AGENTS.length - 1 });
const which = fc.nat({ max: 50 });
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('emit' as const),
      agent,
      what: fc.constantFrom('option', 'bare_option', 'write', 'deploy', 'read', 'status'),
      skip: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('resend' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('late' as const), which }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      which,
      how: fc.constantFrom('yes', 'no'),
      twice: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('acknowledge' as const), which }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('tick' as const), by: fc.constantFrom(1, 5, 21, 60) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(100, 31_000) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('brake' as const),
      agent: fc.option(agent),
      behavior: fc.constantFrom('pause', 'kill'),
      release: fc.constantFrom('manual', 'timer', 'decision'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('silence' as const), agent }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), which }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('kill' as const, 'crash' as const, 'respawn' as const, 'resume' as const),
      agent,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('mode' as const), mode: fc.constantFrom(...MODES) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);

/** What the outside knows: every message that was sent, the decisions that were accepted, and what was delivered to whom. */
interface Outside {
  readonly sent: { readonly agentId: AgentId; readonly payload: Json }[];
  readonly skipped: { readonly agentId: AgentId; readonly payload: Json }[];
  readonly raisedBy: Map<ApprovalId, AgentId>;
  readonly answers: Map<
    ApprovalId,
    { readonly resolution: Resolution; readonly by: string; readonly mode: ControlMode }
  >;
  readonly lives: Map<string, number>;
  brakes: number;
  raised: number;
}

const CLOSED = ['answered', 'expired', 'cancelled', 'withdrawn'];

it('[F190, F191] no interleaving loses a decision, answers it twice, or gives it to another agent; a restart changes nothing', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...MODES),
      fc.constantFrom('triage', 'cancel', 'reassign'),
      fc.array(move, { minLength: 1, maxLength: sized(40, 60, 80), size: 'max' }),
      (mode, orphans, moves) => {
        const orphan = { default: orphans, gracePeriodMs: 30_000 };
        const policies = { orchestrator: orphan, adaptive: orphan, ecosystem: orphan };
        const current = scene(AGENTS, {
          mode,
          config: { decisions: { ...defaultFleetConfig.decisions, orphans: policies } },
        });
        const outside: Outside = {
          sent: [],
          skipped: [],
          raisedBy: new Map(),
          answers: new Map(),
          lives: new Map(AGENTS.map(name => [name, 1])),
          brakes: 0,
          raised: 0,
        };
        for (const next of moves) {
          const before = current.state;
          const from = current.effects.length;
          play(current, outside, next);
          check(outside, before, current.state, current.effects.slice(from));
        }
        // What the log keeps of the facts is enough.
        const kept = current.facts.map(given => fact.parse(JSON.parse(JSON.stringify(given))));
        expect(foldFleet(kept)).toEqual(current.state);
        expect(fleetState.parse(JSON.parse(JSON.stringify(current.state)))).toEqual(current.state);
      },
    ),
    { numRuns: sized(150, 600, 5_000) },
  );
});

function play(current: Scene, outside: Outside, next: Move): void {
  switch (next.do) {
    case 'emit':
      emit(current, outside, AGENTS[next.agent] ?? 'ada', next.what, next.skip);
      return;
    case 'resend': {
      const message = pick(outside.sent, next.which);
      if (message !== undefined) current.happens('event_received', message);
      return;
    }
    case 'late': {
      const [message] = outside.skipped.splice(next.which % Math.max(1, outside.skipped.length), 1);
      if (message === undefined) return;
      outside.sent.push(message);
      current.happens('event_received', message);
      return;
    }
    case 'answer': {
      const item = pick(Object.values(current.state.decisions.items), next.which);
      if (item === undefined) return;
      const yes = item.subject.subtype === 'option' ? choose('a') : approve;
      const answer = { decisionId: item.id, resolution: next.how === 'yes' ? yes : reject, by: 'person' };
      current.happens('decision_answered', answer);
      if (next.twice) current.happens('decision_answered', { ...answer, resolution: reject, by: 'other' });
      return;
    }
    case 'acknowledge': {
      const item = pick(
        Object.values(current.state.decisions.items).filter(({ delivery }) => delivery === 'pending'),
        next.which,
      );
      if (item !== undefined)
        current.happens('resolution_delivered', { decisionId: item.id, agentId: item.reassignedTo ?? item.agentId });
      return;
    }
    case 'tick':
      current.ticks(next.by);
      return;
    case 'pass':
      current.passes(next.ms);
      return;
    case 'brake': {
      const named = next.agent === null ? undefined : AGENTS[next.agent];
      const waiting = Object.values(current.state.decisions.items).find(({ status }) => status === 'open');
      const releaseCondition =
        next.release === 'timer'
          ? ({ type: 'timer', releaseAfterMs: 1_000 } as const)
          : next.release === 'decision' && waiting !== undefined
            ? ({ type: 'decision', decisionId: waiting.id } as const)
            : ({ type: 'manual' } as const);
      current.happens('brake_pulled', {
        brakeId: brakeNamed(String(outside.brakes++)),
        action: {
          scope: named === undefined ? { type: 'all' } : { type: 'agent', agentId: agentNamed(named) },
          reason: 'test',
          behavior: next.behavior,
          initiatedBy: 'person',
          timestamp: timeAt(current.now),
          releaseCondition,
        },
      });
      return;
    }
    case 'silence':
      current.now += 5;
      current.happens('agent_stopped', {
        agentId: agentNamed(AGENTS[next.agent] ?? 'ada'),
        how: 'paused',
        silentAt: timeAt(current.now),
      });
      return;
    case 'release': {
      const brake = pick(Object.values(current.state.control.brakes), next.which);
      if (brake !== undefined) current.happens('brake_released', { brakeId: brake.id, by: 'person' });
      return;
    }
    case 'kill':
    case 'crash':
    case 'respawn':
    case 'resume':
      life(current, outside, AGENTS[next.agent] ?? 'ada', next.do);
      return;
    case 'mode':
      current.happens('mode_changed', { mode: next.mode, by: 'person' });
      return;
    case 'restart':
      current.state = fleetState.parse(JSON.parse(JSON.stringify(current.state)));
      current.happens('fleet_restarted', {});
      return;
  }
}

function emit(current: Scene, outside: Outside, name: string, what: string, skip: boolean): void {
  const agentId = agentNamed(name);
  const session = sessionNamed(`${name}-${outside.lives.get(name)}`);
  const sequence = [...outside.sent, ...outside.skipped].filter(
    ({ payload }) => (payload as { runId: string }).runId === session,
  ).length;
  const id = String(outside.raised++);
  const event =
    what === 'status'
      ? { type: 'status', message: 'working' }
      : what === 'option'
        ? optionDecision(id)
        : what === 'bare_option'
          ? optionDecision(id, { recommendedOptionId: undefined })
          : toolApproval(id, what);
  const payload = {
    sourceEventId: deriveId<EventId>('model-event', session, sequence),
    sourceSequence: sequence,
    sourceOccurredAt: timeAt(current.now),
    runId: session,
    event: JSON.parse(JSON.stringify({ agentId, ...event })),
  } as Json;
  if (what !== 'status') outside.raisedBy.set(decisionNamed(id), agentId);
  (skip ? outside.skipped : outside.sent).push({ agentId, payload });
  if (!skip) current.happens('event_received', { agentId, payload });
}

function life(current: Scene, outside: Outside, name: string, what: 'kill' | 'crash' | 'respawn' | 'resume'): void {
  const agentId = agentNamed(name);
  if (what === 'kill') {
    current.happens('kill_requested', { agentId, by: 'person', reason: 'test' });
    current.happens('agent_stopped', { agentId, how: 'killed', silentAt: timeAt(current.now) });
    return;
  }
  if (what === 'crash') {
    current.happens('agent_crashed', { agentId, reason: 'test' });
    return;
  }
  if (what === 'resume') current.happens('resume_requested', { agentId, by: 'person' });
  else
    current.happens('agent_requested', {
      agentId,
      name,
      pluginName: 'mock',
      template: {},
      changes: { role: 'Coder', workstream: 'backend' },
      by: 'person',
    });
  if (current.state.agents.agents[agentId]?.status !== 'starting') return;
  const lives = (outside.lives.get(name) ?? 0) + 1;
  outside.lives.set(name, lives);
  current.happens('agent_started', { agentId, session: sessionNamed(`${name}-${lives}`), sessionId: '' });
}

/** What must hold of every step, whatever came before. */
function check(outside: Outside, before: FleetState, after: FleetState, effects: readonly Effect[]): void {
  for (const effect of effects) {
    // Every accepted question of an agent is a decision.
    if (effect.kind === 'commit_event' && effect.envelope.event.type === 'decision') {
      const { decisionId, agentId } = effect.envelope.event;
      const known = after.decisions.items[decisionId];
      expect(known?.agentId).toBe(agentId);
    }
    // Nobody gets an answer but the agent that asked, or the one that took over.
    if (effect.kind === 'deliver_resolution') {
      const item = after.decisions.items[effect.decisionId];
      expect(item?.resolution).toEqual(effect.resolution);
      expect([item?.agentId, item?.reassignedTo]).toContain(effect.agentId);
      expect(outside.raisedBy.get(effect.decisionId)).toBe(item?.agentId);
    }
    if (effect.kind === 'answer_settled' && effect.outcome === 'closed') {
      expect(after.decisions.items[effect.decisionId]?.resolution).toEqual(effect.resolution);
    }
  }
  // A decision stays with the agent that raised it, whoever is responsible.
  for (const [id, raiser] of outside.raisedBy) {
    const item = after.decisions.items[id];
    if (item !== undefined) expect(item.agentId).toBe(raiser);
  }
  // What counts as accepted is committed.
  const accepted = (fleet: FleetState) =>
    Object.values(fleet.pipeline.agents).reduce((sum, { counts }) => sum + counts.accepted, 0);
  const committed = effects.filter(effect => effect.kind === 'commit_event' && !effect.marks.isOwn).length;
  expect(committed).toBe(accepted(after) - accepted(before));
  // Whatever arrived is accounted for.
  for (const { counts, held } of Object.values(after.pipeline.agents)) {
    const { received, accepted, duplicates, quarantined, refused, texts } = counts;
    expect(accepted + duplicates + quarantined + refused + texts + held.length).toBe(received);
  }
  for (const [id, was] of Object.entries(before.decisions.items) as [
    ApprovalId,
    FleetState['decisions']['items'][ApprovalId],
  ][]) {
    const is = after.decisions.items[id];
    // No decision is lost, and none changes once it is closed.
    expect(is).toBeDefined();
    if (CLOSED.includes(was.status)) {
      expect([is?.status, is?.resolution, is?.closedBy]).toEqual([was.status, was.resolution, was.closedBy]);
    }
    // In orchestrator mode only a person closes what was open; an orphan whose grace period is over follows its policy.
    const isAuto =
      is !== undefined && !CLOSED.includes(was.status) && CLOSED.includes(is.status) && is.status === 'answered';
    if (isAuto && before.control.mode === 'orchestrator' && after.control.mode === 'orchestrator') {
      expect(['person', 'other']).toContain(is.closedBy);
    }
    // Only a person approves a deployment, in every mode.
    if (isAuto && was.subject.subtype === 'tool_approval' && was.subject.toolName === 'deploy') {
      expect(['person', 'other']).toContain(is.closedBy);
    }
  }
}

function pick<Item>(items: readonly Item[], at: number): Item | undefined {
  return items.length === 0 ? undefined : items[at % items.length];
}
