import {
  type ActEffect,
  brakesOn,
  type Effect,
  effectPhases,
  emptyIntake,
  type Fact,
  type FleetConfig,
  type FleetState,
  type IntakeQueue,
  isLive,
  mayDrop,
  offered,
  startAgain,
  stepFleet,
} from '@signalbox/fleet';
import {
  type AgentId,
  asJson,
  canonicalJson,
  type ErrorEnvelope,
  err,
  isCertainlyClean,
  type Json,
  ok,
  type ProjectId,
  type Result,
  type SecretFilter,
  type Timestamp,
  timestampOf,
} from '@signalbox/model';
import type { ProjectLog } from '@signalbox/runs';
import type { Machine } from '../machine.ts';
import { type AgentCalls, type CallsPorts, createAgentCalls, type Undated } from './agent-calls.ts';
import { needsClock, passedTime } from './fleet-clock.ts';
import { type FleetListener, messagesOf } from './fleet-feed.ts';
import { readFleet } from './fleet-log.ts';
import { draftOf } from './project-draft.ts';
import { createRunSeats, type RunSeats } from './run-seats.ts';

export interface FleetHostOptions extends Pick<CallsPorts, 'plugins' | 'services' | 'onFault'> {
  readonly project: ProjectId;
  readonly log: ProjectLog;
  readonly machine: Pick<Machine, 'clock' | 'timers' | 'ids'>;
  /** What the project sets. */
  readonly config: FleetConfig;
  /** Removes known secrets from facts: what is folded is what is stored. */
  readonly filter: Pick<SecretFilter, 'data' | 'has'>;
}

/**
 * The agents of a project, in the process that owns its data directory. It feeds the fleet's reducer and performs its effects.
 *
 * 1. Facts are worked off one after another. Each is committed with what was decided because of it before anybody is answered, told or
 *    called (T1).
 * 2. Facts that wait at the same time share a group commit. The state moves on only by facts that are durable.
 * 3. A fact that could not be committed is answered with why, if somebody waits for it; otherwise it is tried again.
 * 4. A new process folds the log and goes on: answers that nobody acknowledged are delivered again, and agents whose process is gone crashed.
 */
export interface FleetHost {
  readonly project: ProjectId;
  /** Agents of plans in their runs. */
  readonly seats: RunSeats;
  /** What is durable. */
  state(): FleetState;
  /** Something happened, and nobody waits for it: it is committed when that is possible, in this order. */
  tell(fact: Undated): void;
  /** A message of an agent that no plugin runs, as received. */
  received(agent: AgentId, payload: Json): void;
  /** Calls the listener whenever a fact is durable. Returns how to end it. */
  onSettled(listener: () => void): () => void;
  /** Resolves when the fact is durable, with everything that follows from it. */
  happen(fact: Undated): Promise<Result<readonly Effect[], ErrorEnvelope>>;
  /** Calls the listener with every message about the fleet. Returns how to end it. */
  subscribe(listener: FleetListener): () => void;
  /** Calls the listener with each event, and when it was received and published. */
  onPublished(listener: (event: PublishedEvent) => void): () => void;
  /** Resolves when nothing is waiting or under way. */
  idle(): Promise<void>;
  /** Pauses the agents, and ends. They go on with the next host. */
  close(): Promise<void>;
}

interface PublishedEvent {
  readonly type: string;
  readonly occurredAt: number;
  readonly publishedAt: number;
}

/** One thing that waits for its turn. */
type Item =
  | {
      readonly kind: 'fact';
      readonly fact: Undated;
      readonly answer?: (answer: Result<readonly Effect[], ErrorEnvelope>) => void;
    }
  /** The next message of an agent. If it was dropped meanwhile, there is nothing to do. */
  | { readonly kind: 'message'; readonly agent: AgentId };

/** Facts that share a commit. It is below the size of a group, so that other commits get their share. */
const BATCH = 64;
const RETRY_MS = 500;
/** A restart folds at most so many records. */
const KEPT_EVERY = 1_000;
const SHORTEST_LOOK_MS = 50;
/** How long agents may take to pause when the host closes. */
const GRACE_MS = 10_000;

export async function openFleetHost(options: FleetHostOptions): Promise<FleetHost> {
  const { project, log, machine, filter, onFault } = options;
  const { clock, timers } = machine;
  const before = readFleet(log, project);
  let { state, records } = before;
  let keptAt = before.keptAt;
  const items: Item[] = [];
  const intakes = new Map<AgentId, IntakeQueue<Json>>();
  const listeners = new Set<FleetListener>();
  const settled = new Set<() => void>();
  const seats = createRunSeats();
  const published = new Set<(event: PublishedEvent) => void>();
  let working: Promise<void> | undefined;
  let cancelLook: (() => void) | undefined;
  let isClosing = false;

  const calls: AgentCalls = createAgentCalls({
    ...options,
    ...{ seats, tell, received },
    state: () => state,
  });

  function tell(fact: Undated): void {
    enqueue({ kind: 'fact', fact });
  }

  function received(agent: AgentId, payload: Json): void {
    const intake = intakes.get(agent) ?? (emptyIntake as IntakeQueue<Json>);
    intakes.set(agent, offered(intake, payload, mayDrop));
    enqueue({ kind: 'message', agent });
  }

  function enqueue(item: Item): void {
    items.push(item);
    working ??= work();
  }

  /**
   * The one loop: it waits only for commits. It ends in the same turn in which it finds nothing waiting, so that an item always finds a loop
   * that will take it, or none and starts one.
   */
  async function work(): Promise<void> {
    // Others may still add to the first batch.
    await undefined;
    try {
      while (items.length > 0) await workOff(items.splice(0, BATCH).flatMap(factsOf));
    } finally {
      working = undefined;
      look();
    }
  }

  async function workOff(batch: readonly Extract<Item, { kind: 'fact' }>[]): Promise<void> {
    const steps = stepped(batch);
    const committed = await Promise.all(
      steps.map(({ draft, n }) => log.commitToProject(draft, { project, records: n })),
    );
    // A commit of unknown outcome is in the log or not.
    const durable = (log.project(project)?.records ?? 0) - records;
    for (const step of steps.slice(0, durable)) settle(step);
    if (durable < steps.length) await recover(steps.slice(durable), committed[durable]);
    if (records - keptAt >= KEPT_EVERY) keep();
  }

  /** The facts of an item: a message is preceded by what was dropped for it. */
  function factsOf(item: Item): readonly Extract<Item, { kind: 'fact' }>[] {
    if (item.kind === 'fact') return [item];
    const intake = intakes.get(item.agent);
    const [payload, ...waiting] = intake?.waiting ?? [];
    if (intake === undefined || payload === undefined) return [];
    intakes.set(item.agent, { waiting, dropped: 0 });
    const agentId = item.agent;
    const drops = intake.dropped === 0 ? [] : [{ kind: 'events_dropped' as const, agentId, count: intake.dropped }];
    return [...drops, { kind: 'event_received' as const, agentId, payload }].map(fact => ({ kind: 'fact', fact }));
  }

  function stepped(batch: readonly Extract<Item, { kind: 'fact' }>[]) {
    let current = state;
    return batch.map((item, index) => {
      const fact = clean({ ...item.fact, at: timestampOf(clock) } as Fact);
      const { state: after, effects } = stepFleet(current, fact);
      const n = records + index;
      const draft = draftOf({ fact, effects, n, before: current, after });
      current = after;
      return { item, fact, effects, after, draft, n };
    });
  }

  const clean = (fact: Fact): Fact => (isCertainlyClean(filter, fact) ? fact : filter.data(fact));

  /** A fact is durable: the caller is answered, then those who watch are told, then agents are called. */
  function settle({ item, fact, effects, after }: ReturnType<typeof stepped>[number]): void {
    state = after;
    records += 1;
    item.answer?.(ok(effects));
    for (const message of messagesOf(effects, after, fact.at)) {
      for (const listener of listeners) listener(message);
      if (message.type !== 'event') continue;
      const { envelope } = message;
      const event = {
        type: envelope.event.type,
        occurredAt: Date.parse(envelope.sourceOccurredAt),
        publishedAt: clock.now(),
      };
      for (const listener of published) listener(event);
    }
    for (const effect of effects) if (isAct(effect)) calls.perform(effect);
    for (const listener of settled) listener();
  }

  /** The first of these could not be committed, and so none after it. */
  async function recover(
    [failed, ...later]: readonly ReturnType<typeof stepped>[number][],
    why: Result<unknown, ErrorEnvelope> | undefined,
  ): Promise<void> {
    items.unshift(...later.map(({ item }) => item));
    if (failed === undefined || why === undefined || why.ok) return;
    const isHopeless = why.error.code === 'project/refused' || isClosing;
    if (failed.item.answer !== undefined) return failed.item.answer(err(why.error));
    if (isHopeless) return onFault(why.error);
    items.unshift(failed.item);
    await new Promise<void>(resolve => timers.after(RETRY_MS, resolve));
  }

  function look(): void {
    cancelLook?.();
    cancelLook = undefined;
    if (isClosing || !needsClock(state)) return;
    cancelLook = timers.after(Math.max(SHORTEST_LOOK_MS, Math.min(state.config.ticks.intervalMs, 1_000)), () => {
      cancelLook = undefined;
      const passed = passedTime(state, timestampOf(clock));
      if (passed === undefined) look();
      else enqueue({ kind: 'fact', fact: { kind: 'time_passed' } });
    });
  }

  function keep(): void {
    const row = log.project(project);
    if (row === undefined || row.records !== records) return;
    log.keepState(project, { records, head: row.head, state: asJson(state) });
    keptAt = records;
  }

  async function idle(): Promise<void> {
    while (working !== undefined) await working;
    await calls.settled();
    if (working !== undefined) await idle();
  }

  const host: FleetHost = {
    ...{ project, seats, tell, received },
    state: () => state,
    onSettled(listener) {
      settled.add(listener);
      return () => settled.delete(listener);
    },
    happen: fact => new Promise(answer => enqueue({ kind: 'fact', fact, answer })),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onPublished(listener) {
      published.add(listener);
      return () => published.delete(listener);
    },
    idle,
    async close() {
      isClosing = true;
      cancelLook?.();
      let cancelGrace = () => {};
      const grace = new Promise<void>(resolve => {
        cancelGrace = timers.after(GRACE_MS, resolve);
      });
      // Agents of plans end with their runs.
      const own = Object.values(state.agents.agents).filter(({ seat }) => seat === undefined);
      for (const { id } of own.filter(isLive)) {
        calls.perform({ kind: 'stop_agent', agentId: id, how: pauseOf(state, id), reason: 'The server stops.' });
      }
      // A plugin that does not answer is left behind: its agents have crashed for the next host.
      await Promise.race([idle(), grace]);
      cancelGrace();
      await calls.close();
      while (working !== undefined) await working;
      keep();
    },
  };
  await takeOver(host, calls, options.config, { isAgain: records > 0, now: timestampOf(clock) });
  look();
  return host;
}

/** The facts that a process begins with: its plugins, and what became of agents whose process is gone. */
async function takeOver(
  host: FleetHost,
  calls: AgentCalls,
  config: FleetConfig,
  { isAgain, now }: { readonly isAgain: boolean; readonly now: Timestamp },
): Promise<void> {
  const facts: Undated[] = [];
  if (isAgain) facts.push({ kind: 'fleet_restarted' });
  const { agents, coherence, control, config: before } = host.state();
  if (canonicalJson(asJson(before)) !== canonicalJson(asJson(config))) facts.push({ kind: 'configured', config });
  const starts: ActEffect[] = [];
  for (const { plugin, toolClassifications } of calls.plugins) {
    const { name: pluginName, version, capabilities } = plugin;
    const known = { pluginName, version, capabilities, toolClassifications };
    if (JSON.stringify(agents.plugins[pluginName]) === JSON.stringify(known)) continue;
    facts.push({ kind: 'plugin_registered', ...known });
  }
  for (const agent of Object.values(agents.agents)) {
    const agentId = agent.id;
    if (agent.seat !== undefined) {
      const reason = 'The process that drove its run ended.';
      if (isLive(agent)) facts.push({ kind: 'agent_left', agentId, as: 'interrupted', reason });
      continue;
    }
    const isEnding = agent.wanted === 'kill' || agent.wanted === 'restart' || brakesOn(control, agentId).length > 0;
    if (isLive(agent) && isEnding) facts.push({ kind: 'agent_stopped', agentId, how: 'killed', silentAt: now });
    else if (agent.status === 'starting') starts.push(startAgain(agent));
    else if (isLive(agent)) facts.push({ kind: 'agent_crashed', agentId, reason: 'The process that ran it ended.' });
    else if (agent.status === 'paused' && agent.wanted === 'run' && !isEnding)
      facts.push({ kind: 'resume_requested', agentId, by: 'system' });
  }
  await Promise.all(facts.map(host.happen));
  for (const start of starts) calls.perform(start);
  if (coherence.underReview.length > 0) calls.perform({ kind: 'request_reviews', candidates: coherence.underReview });
}

function pauseOf(fleet: FleetState, agent: AgentId): 'pause' | 'abort' {
  const plugin = fleet.agents.agents[agent]?.pluginName ?? '';
  return fleet.agents.plugins[plugin]?.capabilities.supportsPause === true ? 'pause' : 'abort';
}

function isAct(effect: Effect): effect is ActEffect {
  return effectPhases[effect.kind] === 'act';
}
