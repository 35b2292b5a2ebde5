import {
  type ActEffect,
  type AgentRecord,
  type Fact,
  type FleetState,
  knowledgeSnapshot,
  type PluginCall,
} from '@signalbox/fleet';
import {
  type AdapterSessionId,
  type AgentHandle,
  type AgentId,
  type AgentPlugin,
  type ApprovalId,
  adapterSessionId,
  Bug,
  type ContextInjection,
  type Json,
  type PluginError,
  parsedJson,
  type Result,
  type SerializedAgentState,
  timestampOf,
  utf8Length,
} from '@signalbox/model';
import type { Machine } from '../machine.ts';
import type { CoherenceServices } from './coherence-services.ts';
import type { FleetPlugin, OpenPlugin } from './fleet-plugin.ts';
import type { LeftSeat, RunSeats } from './run-seats.ts';

/** A fact without its time, which it gets when its turn comes. */
export type Undated<Of extends Fact = Fact> = Of extends unknown ? Omit<Of, 'at'> : never;

export interface CallsPorts {
  readonly machine: Pick<Machine, 'clock' | 'timers'>;
  readonly plugins: readonly OpenPlugin[];
  readonly services?: CoherenceServices | undefined;
  readonly state: () => FleetState;
  /** Something that happened, which nobody waits for. */
  readonly tell: (fact: Undated) => void;
  /** Agents of plans that work now, or that are held. */
  readonly seats: Pick<RunSeats, 'of'>;
  /** A message of an agent, as received. */
  readonly received: (agent: AgentId, payload: Json) => void;
  readonly onFault: (thrown: unknown) => void;
}

/** What is done to agents and services, each once its reason is durable. What comes of it is told as facts. */
export interface AgentCalls {
  readonly plugins: readonly FleetPlugin[];
  perform(effect: ActEffect): void;
  /** Resolves once every call that is under way has been answered. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

interface Running {
  readonly handle: AgentHandle;
  readonly plugin: AgentPlugin;
  /** The adapter session that its events name now. */
  readonly session: string | undefined;
}

const TOKEN_BYTES = 4;
/** How long a plugin may take to answer. */
const CALL_MS = 60_000;

/**
 * Calls plugins for the fleet.
 *
 * 1. The calls for one agent are made one after another, in the order in which the fleet decided them.
 * 2. What an agent says while it is being started is told after the fact that it started.
 * 3. A call whose agent is no longer the one that it was meant for is not made: the fleet decides again when the agent is back.
 */
export function createAgentCalls(ports: CallsPorts): AgentCalls {
  const { machine, state, tell, received, services, seats, onFault } = ports;
  const handles = new Map<AgentId, AgentHandle>();
  /** Messages of agents that are being started. */
  const early = new Map<AgentId, Json[]>();
  const lines = new Map<AgentId, Promise<void>>();
  const under = new Set<Promise<void>>();
  const waits = new Set<() => void>();
  /** The last call of each kind for each agent, for its repetition. */
  const last = new Map<string, (attempt: number) => Promise<void>>();
  let isClosed = false;

  const plugins = ports.plugins.map(open =>
    open({
      transportOf: agent => ({ type: 'in_process', eventSink: message => arrived(agent, plainOf(message)) }),
      livesOf: agent => state().agents.agents[agent]?.lives ?? 0,
      stored(saved) {
        if (!isClosed) tell({ kind: 'checkpoint_stored', agentId: saved.agentId, state: saved });
      },
      crashed(agentId, reason) {
        handles.delete(agentId);
        if (!isClosed) tell({ kind: 'agent_crashed', agentId, reason });
      },
      answer: (decisionId, resolution) => tell({ kind: 'decision_answered', decisionId, resolution, by: 'script' }),
    }),
  );

  const now = () => timestampOf(machine.clock);
  const agentOf = (id: AgentId) => state().agents.agents[id];
  const pluginOf = (id: AgentId) => plugins.find(({ plugin }) => plugin.name === agentOf(id)?.pluginName);

  /** Undefined if no process works for the agent. */
  function runningOf(id: AgentId): Running | undefined {
    const handle = handles.get(id);
    const of = pluginOf(id);
    if (handle === undefined || of === undefined) return undefined;
    // An adapter may have begun another session by itself: with each turn, where it cannot resume.
    return { handle, plugin: of.plugin, session: of.sessionOf(id) ?? agentOf(id)?.session ?? undefined };
  }

  function arrived(agent: AgentId, payload: Json): void {
    if (isClosed) return;
    const waiting = early.get(agent);
    if (waiting === undefined) received(agent, payload);
    else waiting.push(payload);
  }

  function track(work: Promise<void>): void {
    const done = work.catch(onFault).finally(() => under.delete(done));
    under.add(done);
  }

  /** After the earlier calls for the agent. */
  function inLine(agent: AgentId, work: () => Promise<void>): void {
    const before = lines.get(agent) ?? Promise.resolve();
    const next = before.then(() => (isClosed ? undefined : work())).catch(onFault);
    lines.set(agent, next);
    track(next);
  }

  function call(agentId: AgentId, name: PluginCall, make: () => Promise<PluginError | undefined>): void {
    const attempt = async (number: number) => {
      const error = await inTime(name, make());
      if (error !== undefined && !isClosed)
        tell({ kind: 'plugin_failed', agentId, call: name, attempt: number, error });
    };
    last.set(`${agentId} ${name}`, attempt);
    inLine(agentId, () => attempt(1));
  }

  /** A plugin that does not answer must not hold up the calls that follow, least of all a kill. */
  async function inTime(name: PluginCall, answer: Promise<PluginError | undefined>): Promise<PluginError | undefined> {
    const late = Promise.withResolvers<PluginError>();
    const cancel = machine.timers.after(CALL_MS, () =>
      late.resolve({ code: 'provider_unavailable', message: `The plugin did not answer ${name}.`, retryable: true }),
    );
    try {
      return await Promise.race([answer, late.promise]);
    } finally {
      cancel();
    }
  }

  function start(
    agentId: AgentId,
    name: 'spawn' | 'resume',
    begin: (plugin: FleetPlugin) => Promise<Result<AgentHandle, PluginError>>,
  ) {
    call(agentId, name, async () => {
      const agent = agentOf(agentId);
      const plugin = pluginOf(agentId);
      if (agent === undefined || agent.status !== 'starting') return undefined;
      if (agent.seat !== undefined) {
        const isThere = seats.of(agentId)?.resume() === true;
        const reason = `Its run is not driven now. Resume it with: signalbox resume ${agent.seat.run}`;
        if (!isThere) tell({ kind: 'agent_left', agentId, as: 'interrupted', reason });
        return undefined;
      }
      if (plugin === undefined)
        return {
          code: 'provider_unavailable',
          message: `There is no plugin ${agent.pluginName} here.`,
          retryable: false,
        };
      early.set(agentId, []);
      try {
        const begun = await begin(plugin);
        if (!begun.ok) return begun.error;
        handles.set(agentId, begun.value);
        const { sessionId } = begun.value;
        tell({ kind: 'agent_started', agentId, session: sessionOf(plugin, agentId), sessionId });
        return undefined;
      } finally {
        const messages = early.get(agentId) ?? [];
        early.delete(agentId);
        for (const message of messages) received(agentId, message);
      }
    });
  }

  function stop({ agentId, how, reason }: Extract<ActEffect, { kind: 'stop_agent' }>): void {
    const isKill = how === 'kill';
    call(agentId, isKill ? 'kill' : 'pause', async () => {
      const running = runningOf(agentId);
      const told = (saved?: SerializedAgentState) => {
        handles.delete(agentId);
        const outcome = how === 'pause' ? ('paused' as const) : ('killed' as const);
        tell({
          kind: 'agent_stopped',
          agentId,
          how: outcome,
          silentAt: now(),
          ...(saved === undefined ? {} : { state: saved }),
        });
      };
      const agent = agentOf(agentId);
      if (agent?.seat !== undefined) {
        const left = await seats.of(agentId)?.stop(isKill ? 'kill' : 'pause');
        told(left === undefined || isKill ? undefined : seatState(agent, left, now()));
        return undefined;
      }
      // Nothing works for it any longer.
      if (running === undefined) {
        told();
        return undefined;
      }
      if (isKill) {
        const killed = await running.plugin.kill(running.handle);
        // What it saved is for a later start; the agent is not paused.
        if (killed.ok && killed.value.state !== undefined)
          tell({ kind: 'checkpoint_stored', agentId, state: killed.value.state });
        if (killed.ok || killed.error.code === 'invalid_state') told();
        else tell({ kind: 'stop_failed', agentId, reason });
        return killed.ok || killed.error.code === 'invalid_state' ? undefined : killed.error;
      }
      const paused = await running.plugin.pause(running.handle);
      if (paused.ok) told(paused.value);
      else tell({ kind: 'stop_failed', agentId, reason });
      return paused.ok ? undefined : paused.error;
    });
  }

  function deliver({
    agentId,
    decisionId,
    resolution,
    session,
    isReassigned,
  }: Extract<ActEffect, { kind: 'deliver_resolution' }>): void {
    call(agentId, 'resolveDecision', async () => {
      const running = runningOf(agentId);
      // It is delivered again when the agent is back.
      if (running === undefined) return undefined;
      const { handle, plugin } = running;
      const knowsIt = !isReassigned && running.session === session;
      const delivered = knowsIt
        ? await plugin.resolveDecision(handle, decisionId, resolution)
        : await plugin.injectContext(handle, toldAnswer(decisionId, resolution, state().knowledge.version));
      if (delivered.ok) tell({ kind: 'resolution_delivered', decisionId, agentId });
      return delivered.ok ? undefined : delivered.error;
    });
  }

  function inject(agentId: AgentId, injectionOf: () => ContextInjection | undefined): void {
    call(agentId, 'injectContext', async () => {
      const running = runningOf(agentId);
      const injection = injectionOf();
      if (running === undefined || injection === undefined) return undefined;
      const done = await running.plugin.injectContext(running.handle, injection);
      return done.ok ? undefined : done.error;
    });
  }

  function snapshotFor(agentId: AgentId): ContextInjection | undefined {
    const fleet = state();
    const agent = fleet.agents.agents[agentId];
    if (agent === undefined) return undefined;
    const { workstream, readableWorkstreams: readable } = agent.brief;
    const snapshot = knowledgeSnapshot(fleet, { workstream, readable }, now(), fleet.config.snapshotTokens);
    return {
      content: JSON.stringify(snapshot),
      format: 'json',
      snapshotVersion: snapshot.version,
      estimatedTokens: snapshot.estimatedTokens,
      priority: 'required',
    };
  }

  const performers: { readonly [Kind in ActEffect['kind']]: (effect: Extract<ActEffect, { kind: Kind }>) => void } = {
    spawn_agent: ({ agentId, brief }) => start(agentId, 'spawn', ({ plugin }) => plugin.spawn(brief)),
    resume_agent({ agentId, state: saved, changes }) {
      // What changed while it stood still.
      const briefSnapshot = { ...saved.briefSnapshot, ...changes } as typeof saved.briefSnapshot;
      start(agentId, 'resume', ({ plugin }) => plugin.resume({ ...saved, briefSnapshot }));
    },
    stop_agent: stop,
    update_brief: ({ agentId, changes }) =>
      call(agentId, 'updateBrief', async () => {
        const running = runningOf(agentId);
        if (running === undefined) return undefined;
        const updated = await running.plugin.updateBrief(running.handle, changes);
        if (updated.ok) handles.set(agentId, updated.value);
        return updated.ok ? undefined : updated.error;
      }),
    // No call of the contract shortens a conversation: the plugin does so when the call is repeated.
    compact_conversation: () => {},
    retry_call: ({ agentId, call: name, attempt, afterMs }) =>
      later(afterMs, () => {
        const again = last.get(`${agentId} ${name}`);
        if (again !== undefined) inLine(agentId, () => again(attempt));
      }),
    deliver_resolution: deliver,
    inject_decision: ({ agentId, decision }) =>
      inject(agentId, () => toldDecision(decision, state().knowledge.version)),
    request_snapshot: ({ agentId }) => inject(agentId, () => snapshotFor(agentId)),
    request_replay({ agentId, runId, fromSequence, toSequence }) {
      const plugin = pluginOf(agentId);
      if (plugin?.replay(agentId, { runId, fromSequence, toSequence }) !== true)
        tell({ kind: 'replay_unavailable', agentId, fromSequence, toSequence });
    },
    request_similarities({ scan, pairs }) {
      const ask = async () => {
        const scores = await services?.similarities(pairs);
        if (scores !== undefined) tell({ kind: 'similarities_computed', scan, scores });
      };
      track(ask());
    },
    request_reviews({ candidates }) {
      const ask = async () => {
        const results = await services?.reviews(candidates);
        if (results !== undefined) tell({ kind: 'reviews_returned', results });
      };
      track(ask());
    },
  };

  function later(ms: number, run: () => void): void {
    const cancel = machine.timers.after(ms, () => {
      waits.delete(cancel);
      run();
    });
    waits.add(cancel);
  }

  return {
    plugins,
    perform: effect => (performers[effect.kind] as (given: ActEffect) => void)(effect),
    async settled() {
      while (under.size > 0) await Promise.all(under);
    },
    async close() {
      isClosed = true;
      for (const cancel of waits) cancel();
      await Promise.all(plugins.map(plugin => plugin.close()));
    },
  };
}

/** The transcript that a plan's agent continues from: that of its task, which its run has. */
function seatState(
  { id, brief, pluginName }: AgentRecord,
  { sessionId, lastSequence }: LeftSeat,
  serializedAt: SerializedAgentState['serializedAt'],
): SerializedAgentState {
  return {
    ...{ agentId: id, pluginName, sessionId, briefSnapshot: brief, lastSequence, serializedAt },
    checkpoint: { sdk: 'acp', agent: pluginName, sessionId },
    pendingDecisionIds: [],
    serializedBy: 'pause',
    estimatedSizeBytes: utf8Length(JSON.stringify(brief)),
  };
}

function sessionOf(plugin: FleetPlugin, agent: AgentId): AdapterSessionId {
  const session = adapterSessionId.safeParse(plugin.sessionOf(agent));
  if (!session.success) throw new Bug(`plugin ${plugin.plugin.name} began no session for agent ${agent}`);
  return session.data;
}

/** What arrives from an adapter in this process may be anything; what is kept is plain. */
function plainOf(message: unknown): Json {
  if (typeof message === 'string') return message.toWellFormed();
  try {
    return (parsedJson(JSON.stringify(message)) as Json | undefined) ?? String(message);
  } catch {
    return String(message).toWellFormed();
  }
}

function toldAnswer(decision: ApprovalId, resolution: Json | object, snapshotVersion: number): ContextInjection {
  return inWords(`Decision ${decision} was answered: ${JSON.stringify(resolution)}`, snapshotVersion);
}

function toldDecision(
  decision: { readonly id: ApprovalId; readonly subject: object },
  snapshotVersion: number,
): ContextInjection {
  return inWords(
    `You are now responsible for decision ${decision.id}: ${JSON.stringify(decision.subject)}`,
    snapshotVersion,
  );
}

function inWords(content: string, snapshotVersion: number): ContextInjection {
  const estimatedTokens = Math.ceil(utf8Length(content) / TOKEN_BYTES);
  return { content, format: 'plain', snapshotVersion, estimatedTokens, priority: 'required' };
}
