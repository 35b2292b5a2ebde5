import {
  type AgentBrief,
  type AgentHandle,
  type AgentId,
  type AgentPlugin,
  defaultKillRequest,
  err,
  type InProcessTransport,
  ok,
  type PluginError,
  type ReplayRequest,
  type Result,
  type SerializedAgentState,
  timestampOf,
} from '@signalbox/model';
import { type CapabilityProfile, capabilityProfiles } from './capability-profiles.ts';
import { type Beginning, type MockAgent, type MockStage, mockAgent, turnStart } from './mock-agent.ts';
import type { MockScenario } from './mock-script.ts';

/** Scripted time for each millisecond that passes: realistic, ten times as fast, or step by step. */
export type MockSpeed = 1 | 10 | 0;

export interface MockPluginOptions {
  readonly scenario: MockScenario;
  readonly transport: InProcessTransport;
  readonly profile?: CapabilityProfile;
  readonly speed?: MockSpeed;
  /** When the scripted time begins. */
  readonly startsAt?: number;
  readonly answer?: MockStage['answer'];
  /** Adapter sessions are numbered from here: those before were an earlier process's. */
  readonly firstSession?: number;
  /** Told at once, as the end of a process would be. */
  readonly onCrash?: MockStage['onCrash'];
}

/** A plugin that plays a scenario. Nothing happens by itself: time passes by `advance`, or entry by entry by `step`. */
export interface MockPlugin extends AgentPlugin {
  readonly name: 'mock';
  /** Lets time pass; at speed 0 nothing happens. Returns how many entries were played. */
  advance(milliseconds: number): number;
  /** Plays whatever is next, however far away it is. Returns false if every agent has ended or waits. */
  step(): boolean;
  /** Scripted milliseconds so far. */
  elapsed(): number;
  agent(id: AgentId): Pick<MockAgent, 'handle' | 'standing' | 'brief' | 'injections'> | undefined;
  /** Sends lost events again; false if they are gone. */
  replay(id: AgentId, request: ReplayRequest): boolean;
}

export function createMockPlugin(options: MockPluginOptions): MockPlugin {
  const {
    scenario,
    transport,
    profile = 'all',
    speed = 1,
    startsAt = Date.UTC(2026, 0, 1),
    firstSession = 0,
  } = options;
  const capabilities = capabilityProfiles[profile];
  const agents = new Map<AgentId, MockAgent>();
  const failedStarts = new Set<AgentId>();
  let elapsed = 0;
  const stage: MockStage = {
    capabilities,
    elapsed: () => elapsed,
    now: () => timestampOf({ now: () => startsAt + elapsed }),
    sink: transport.eventSink,
    answer: options.answer,
    onCrash: options.onCrash,
  };

  const numberAfter = (before: Parameters<typeof sessionAfter>[0]) => Math.max(sessionAfter(before), firstSession);

  function scriptOf({ agentId, role }: AgentBrief) {
    return (
      scenario.agents.find(script => script.agentId === agentId) ?? scenario.agents.find(script => script.role === role)
    );
  }

  function begin(beginning: Beginning): Result<AgentHandle, PluginError> {
    const script = scriptOf(beginning.brief);
    const { agentId, role } = beginning.brief;
    if (script === undefined) return err(invalid(`Scenario ${scenario.scenarioId} has no agent ${role}.`));
    const before = agents.get(agentId)?.standing();
    if (
      before !== undefined &&
      before !== 'gone' &&
      before !== 'paused' &&
      before !== 'crashed' &&
      before !== 'completed'
    )
      return err(invalid(`Agent ${agentId} is ${before}.`));
    const failure = script.events[0]?.failureInjection;
    if (failure?.type === 'error' && beginning.session === firstSession && !failedStarts.has(agentId)) {
      failedStarts.add(agentId);
      return err(failure.error);
    }
    const agent = mockAgent(script, stage, beginning);
    agents.set(agentId, agent);
    return ok(agent.handle());
  }

  /** The agent of a handle if it can answer, or why the call fails. */
  function answering({ id }: AgentHandle): Result<MockAgent, PluginError> {
    const agent = agents.get(id);
    if (agent === undefined) return err(invalid(`There is no agent ${id}.`));
    const error = agent.takeError();
    if (error !== undefined) return err(error);
    const standing = agent.standing();
    if (standing === 'hung') {
      return err({ code: 'provider_unavailable', message: `Agent ${id} does not answer.`, retryable: true });
    }
    return standing === 'gone' || standing === 'crashed' ? err(invalid(`Agent ${id} is not running.`)) : ok(agent);
  }

  function nextDue(): { readonly agent: MockAgent; readonly at: number } | undefined {
    return [...agents.values()]
      .flatMap(agent => {
        const at = agent.dueAt();
        return at === undefined ? [] : [{ agent, at }];
      })
      .toSorted((a, b) => a.at - b.at)[0];
  }

  return {
    name: 'mock',
    version: '1.0.0',
    capabilities,
    spawn: async brief => begin({ brief, session: numberAfter(agents.get(brief.agentId)?.handle()), position: 0 }),
    async pause(handle) {
      const found = answering(handle);
      if (!found.ok) return found;
      const agent = found.value;
      if (agent.standing() === 'completed' || agent.standing() === 'paused') {
        return err(invalid(`Agent ${handle.id} is ${agent.standing()}.`));
      }
      const state = agent.serialized('pause');
      if (capabilities.supportsPause) agent.pause();
      else agent.stop();
      return ok(state);
    },
    async resume(state) {
      const script = scriptOf(state.briefSnapshot);
      if (script === undefined || state.checkpoint.sdk !== 'mock')
        return err(invalid('The state is of another plugin.'));
      const { scriptPosition } = state.checkpoint;
      const isExact = capabilities.supportsPause && capabilities.supportsResume;
      const [waitsFor] = state.pendingDecisionIds;
      return begin({
        brief: state.briefSnapshot,
        session: numberAfter(state),
        position: capabilities.supportsResume ? scriptPosition : turnStart(script, scriptPosition),
        ...(isExact && waitsFor !== undefined ? { waitsFor } : {}),
      });
    },
    async kill({ id }, request = defaultKillRequest) {
      const agent = agents.get(id);
      if (agent === undefined || agent.standing() === 'gone') return err(invalid(`Agent ${id} is not running.`));
      const error = agent.takeError();
      if (error !== undefined) return err(error);
      const isClean = request.grace && agent.standing() !== 'hung' && agent.standing() !== 'crashed';
      const state = isClean ? agent.serialized('kill_grace') : undefined;
      agent.stop();
      return ok({ ...(state === undefined ? {} : { state }), artifactsExtracted: 0, cleanShutdown: isClean });
    },
    async resolveDecision(handle, decisionId, resolution) {
      const found = answering(handle);
      if (!found.ok) return found;
      return found.value.resolve(decisionId, resolution)
        ? ok(undefined)
        : err({ code: 'decision_not_found', decisionId });
    },
    async injectContext(handle, injection) {
      const found = answering(handle);
      if (!found.ok) return found;
      const budget = found.value.brief().sessionPolicy?.contextBudgetTokens;
      if (budget !== undefined && injection.estimatedTokens > budget) {
        return err({ code: 'context_overflow', currentTokens: injection.estimatedTokens, maxTokens: budget });
      }
      found.value.inject(injection);
      return ok(undefined);
    },
    async updateBrief(handle, changes) {
      const found = answering(handle);
      if (!found.ok) return found;
      found.value.change(changes);
      return ok(found.value.handle());
    },
    advance(milliseconds) {
      const until = elapsed + milliseconds * speed;
      let played = 0;
      for (let due = nextDue(); speed > 0 && due !== undefined && due.at <= until; due = nextDue()) {
        elapsed = Math.max(elapsed, due.at);
        due.agent.act();
        played += 1;
      }
      elapsed = until;
      return played;
    },
    step() {
      const due = nextDue();
      if (due === undefined) return false;
      elapsed = Math.max(elapsed, due.at);
      due.agent.act();
      return true;
    },
    elapsed: () => elapsed,
    agent: id => agents.get(id),
    replay: (id, request) => agents.get(id)?.replay(request) ?? false,
  };
}

/** A process in this one, for tests and demos: its messages go straight to the sink. */
export function inProcessTransport(eventSink: InProcessTransport['eventSink']): InProcessTransport {
  return { type: 'in_process', eventSink };
}

function sessionAfter(last: Pick<AgentHandle | SerializedAgentState, 'sessionId'> | undefined): number {
  return last === undefined ? 0 : Number(last.sessionId.slice('mock-'.length)) + 1;
}

function invalid(message: string): PluginError {
  return { code: 'invalid_state', message };
}
