import {
  type AdapterEvent,
  type AgentEventType,
  type AgentHandle,
  type AgentId,
  type AgentPlugin,
  type ApprovalId,
  adapterEvent,
  agentEventType,
  type InProcessTransport,
  parseStrictly,
  type Resolution,
  type Result,
} from '@signalbox/model';
import {
  type CapabilityProfile,
  capabilityProfiles,
  createMockPlugin,
  fakeClock,
  inProcessTransport,
  loadScenario,
  type MockFailure,
  type MockPlugin,
  type MockPluginOptions,
  type MockScenario,
  type MockSpeed,
  malformedEvents,
  mockCoherence,
  readScenario,
  type ScenarioName,
  scenarioBrief,
  scenarioNames,
  scenarioVariants,
} from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import david from './scenarios/david.json' with { type: 'json' };

const clock = fakeClock();
const approve: Resolution = { resolutionType: 'approve', rationale: '', actionKind: 'update' };

interface Played {
  readonly scenario: MockScenario;
  readonly plugin: MockPlugin;
  readonly received: unknown[];
  /** Well-formed messages, as `agent type` or `agent type detail`. */
  told(name?: string): readonly AdapterEvent[];
  handle(name: string): AgentHandle;
  id(name: string): AgentId;
}

function granted<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

async function start(
  name: ScenarioName,
  { variant, ...options }: { readonly variant?: string } & Partial<MockPluginOptions> = {},
): Promise<Played> {
  const scenario = loadScenario(name, variant === undefined ? {} : { variant });
  const received: unknown[] = [];
  const transport: InProcessTransport = inProcessTransport(message => received.push(message));
  const plugin = createMockPlugin({ scenario, transport, ...options });
  const handles = new Map<string, AgentHandle>();
  for (const agent of scenario.agents) {
    const spawned = await plugin.spawn(scenarioBrief(scenario, agent.name, clock));
    if (spawned.ok) handles.set(agent.name, spawned.value);
  }
  const id = (agent: string) => scenario.agents.find(script => script.name === agent)?.agentId ?? missing(agent);
  return {
    scenario,
    plugin,
    received,
    told: agent =>
      received.flatMap(message => {
        const parsed = parseStrictly(adapterEvent, message);
        return parsed.ok && (agent === undefined || parsed.value.event.agentId === id(agent)) ? [parsed.value] : [];
      }),
    handle: agent => handles.get(agent) ?? missing(agent),
    id,
  };
}

function missing(agent: string): never {
  throw new Error(`no agent ${agent}`);
}

/** Plays to the end, step by step. */
function playAll({ plugin }: Played): void {
  while (plugin.step());
}

const types = (events: readonly AdapterEvent[]): readonly AgentEventType[] => events.map(({ event }) => event.type);
const sequences = (events: readonly AdapterEvent[]): readonly number[] => events.map(event => event.sourceSequence);
const upTo = (last: number) => Array.from({ length: last + 1 }, (_, at) => at);

describe('scenarios', () => {
  it('[U21] are the five of the specification, and have every type of event', () => {
    expect(scenarioNames).toEqual(['maya', 'david', 'priya', 'rosa', 'sam']);
    const seen = scenarioNames.flatMap(name =>
      loadScenario(name).agents.flatMap(({ events }) => events.map(({ event }) => event.type)),
    );
    expect(agentEventType.options.filter(type => !seen.includes(type))).toEqual([]);
  });

  it('[U21] have the control mode and the key events of the specification', () => {
    const keys: Readonly<Record<ScenarioName, readonly string[]>> = {
      maya: ['ecosystem', 'status', 'artifact', 'option', 'completion'],
      david: ['orchestrator', 'tool_approval', 'coherence', 'artifact', 'delegation'],
      priya: ['adaptive', 'tool_call', 'tool_approval', 'option', 'progress'],
      rosa: ['adaptive', 'artifact', 'coherence', 'status'],
      sam: ['adaptive', 'lifecycle', 'status', 'completion'],
    };
    for (const name of scenarioNames) {
      const { controlMode, agents } = loadScenario(name);
      const events = agents.flatMap(agent => agent.events.map(({ event }) => event));
      const found: readonly string[] = [
        controlMode,
        ...events.map(event => (event.type === 'decision' ? event.subtype : event.type)),
      ];
      expect([name, keys[name].filter(key => !found.includes(key))]).toEqual([name, []]);
    }
  });

  it('[U21] have the same ids for the same seed, and others for another', () => {
    expect(loadScenario('david', { seed: 1 })).toEqual(loadScenario('david', { seed: 1 }));
    const ids = (seed: number) => loadScenario('david', { seed }).agents.map(({ agentId }) => agentId);
    expect(new Set([...ids(1), ...ids(2)]).size).toBe(6);
  });

  it('[U21] are refused with the field if they are wrong', () => {
    const [backend, ...others] = david.agents;
    const agents = [{ ...backend, events: [{ delayMs: 1, event: { type: 'status' } }] }, ...others];
    expect(() => readScenario({ ...david, agents, variants: {} })).toThrow(
      'Scenario david: "agents[0].events[0].event.message" is missing.',
    );
    expect(() => loadScenario('david', { variant: 'flood' })).toThrow('Scenario david has no variant "flood".');
    const variants = { x: [{ agent: 'backend', entry: 99, failure: { type: 'hang' } }] };
    expect(() => readScenario({ ...david, variants }, { variant: 'x' })).toThrow('backend has no entry 99');
  });
});

describe('playing', () => {
  it.each(scenarioNames)('[U22] %s gives the same events at every speed and on every run', async name => {
    const stepped = await start(name, { speed: 0 });
    playAll(stepped);
    expect(stepped.received.length).toBeGreaterThan(10);
    expect(stepped.told()).toHaveLength(stepped.received.length);
    const speeds: readonly MockSpeed[] = [1, 10];
    for (const speed of speeds) {
      const run = await start(name, { speed });
      for (let second = 0; second < 120 / speed; second++) run.plugin.advance(1000);
      expect(run.received).toEqual(stepped.received);
    }
  });

  it('[U22] follows the delays of the script, ten times as fast at speed 10, and not at all at speed 0', async () => {
    const after = async (speed: MockSpeed, milliseconds: number) => {
      const run = await start('sam', { speed });
      run.plugin.advance(milliseconds);
      return types(run.told('proposal'));
    };
    expect(await after(1, 99)).toEqual(['lifecycle']);
    expect(await after(1, 100)).toEqual(['lifecycle', 'lifecycle']);
    expect(await after(10, 70)).toEqual(['lifecycle', 'lifecycle', 'status']);
    expect(await after(0, 60_000)).toEqual(['lifecycle']);
  });

  it('[U22] counts the events of each agent from 0 without gaps, in the order of their times', async () => {
    const run = await start('david');
    playAll(run);
    for (const { name } of run.scenario.agents) {
      const events = run.told(name);
      expect(sequences(events)).toEqual(upTo(events.length - 1));
    }
    const at = run.told().map(event => event.sourceOccurredAt);
    expect(at).toEqual(at.toSorted());
    expect(new Set(run.told().map(event => event.sourceEventId)).size).toBe(run.received.length);
  });
});

describe('decisions', () => {
  const untilBlocked = (run: Played, name: string) => {
    while (run.plugin.agent(run.id(name))?.standing() !== 'blocked') if (!run.plugin.step()) return;
  };
  const openDecision = (run: Played, name: string): ApprovalId => {
    const { event } = run.told(name).findLast(message => message.event.type === 'decision') ?? missing(name);
    return event.type === 'decision' ? event.decisionId : missing(name);
  };

  it('[U23] block the agent until a call resolves them, once', async () => {
    const run = await start('david');
    untilBlocked(run, 'backend');
    const before = run.told('backend').length;
    const decision = openDecision(run, 'backend');
    expect(run.plugin.agent(run.id('backend'))?.handle().status).toBe('waiting_on_human');
    const resolve = () => run.plugin.resolveDecision(run.handle('backend'), decision, approve);
    expect([await resolve(), await resolve()]).toEqual([
      { ok: true, value: undefined },
      { ok: false, error: { code: 'decision_not_found', decisionId: decision } },
    ]);
    run.plugin.step();
    while (run.told('backend').length === before && run.plugin.step());
    expect(run.told('backend').length).toBeGreaterThan(before);
  });

  it('[U23] are answered for a person when the scripted answer is due, and not before', async () => {
    const asked: string[] = [];
    const run = await start('david', {
      answer: (decision, resolution, brief) => asked.push(`${brief.role} ${resolution.resolutionType} ${decision}`),
    });
    untilBlocked(run, 'backend');
    const decision = openDecision(run, 'backend');
    run.plugin.advance(2999);
    expect(asked).toEqual([]);
    run.plugin.advance(1);
    expect(asked).toEqual([`Backend Agent approve ${decision}`]);
    expect(run.plugin.agent(run.id('backend'))?.standing()).toBe('blocked');
  });

  it('[U23] lead to the entries for an approval or a rejection', async () => {
    const run = await start('david');
    playAll(run);
    const ends = run.told('backend').flatMap(({ event }) => (event.type === 'completion' ? [event.outcome] : []));
    expect(ends).toEqual(['partial']);
  });

  it('[U23] on a tool that is always approved are not asked again', async () => {
    const asked = async (always: boolean) => {
      const run = await start('david');
      untilBlocked(run, 'frontend');
      await run.plugin.resolveDecision(run.handle('frontend'), openDecision(run, 'frontend'), {
        ...approve,
        alwaysApprove: always,
      });
      playAll(run);
      return types(run.told('frontend')).filter(type => type === 'decision').length;
    };
    expect([await asked(false), await asked(true)]).toEqual([2, 1]);
  });
});

describe('profiles', () => {
  const running = async (profile: CapabilityProfile) => {
    const run = await start('sam', { profile });
    run.plugin.advance(5000);
    expect(run.plugin.agent(run.id('proposal'))?.standing()).toBe('blocked');
    return run;
  };
  const changes = { constraints: ['Two pages at most.'] };

  it('[U24] are the four of the specification', () => {
    const rows = Object.entries(capabilityProfiles).map(([name, able]) => [name, ...Object.values(able)]);
    expect(rows).toEqual([
      ['all', true, true, true, true],
      ['claude', false, true, true, false],
      ['openai', true, true, true, false],
      ['minimal', false, false, true, false],
    ]);
  });

  it.each([
    ['all', 'paused', ['lifecycle'], 'blocked'],
    ['openai', 'paused', ['lifecycle'], 'blocked'],
    // The session is loaded again, and the agent asks again.
    ['claude', 'gone', ['lifecycle', 'decision'], 'blocked'],
    // The turn begins again: all it did is done again.
    [
      'minimal',
      'gone',
      ['lifecycle', 'lifecycle', 'status', 'message.assistant.final', 'artifact', 'decision'],
      'blocked',
    ],
  ] as const)(
    '[U24] %s: a paused agent is %s, and a resumed one sends %j',
    async (profile, standing, resent, after) => {
      const run = await running(profile);
      const state = granted(await run.plugin.pause(run.handle('proposal')));
      expect(run.plugin.agent(run.id('proposal'))?.standing()).toBe(standing);
      const before = run.told('proposal').length;
      run.plugin.advance(60_000);
      expect(run.told('proposal')).toHaveLength(before);
      const handle = granted(await run.plugin.resume(state));
      while (run.plugin.agent(run.id('proposal'))?.standing() === 'running') run.plugin.step();
      const again = run.told('proposal').slice(before);
      expect([handle.sessionId, types(again), run.plugin.agent(run.id('proposal'))?.standing()]).toEqual([
        'mock-1',
        resent,
        after,
      ]);
      expect(sequences(again)).toEqual(upTo(again.length - 1));
      expect(again[0]?.runId).not.toBe(run.told('proposal')[0]?.runId);
    },
  );

  it('[U24] minimal: a resolved decision begins another turn', async () => {
    const run = await running('minimal');
    playAll(run);
    const sessions = new Set(run.told('proposal').map(event => event.runId));
    expect(sessions.size).toBe(2);
  });

  it.each(['all', 'claude', 'openai', 'minimal'] as const)('[U24] %s: a changed brief', async profile => {
    const run = await running(profile);
    const handle = granted(await run.plugin.updateBrief(run.handle('proposal'), changes));
    const isHot = capabilityProfiles[profile].supportsHotBriefUpdate;
    expect(handle.pendingBriefChanges).toEqual(isHot ? undefined : changes);
    const state = granted(await run.plugin.pause(handle));
    const resumed = granted(await run.plugin.resume(state));
    expect(resumed.pendingBriefChanges).toBeUndefined();
    expect(run.plugin.agent(run.id('proposal'))?.brief().constraints).toEqual(changes.constraints);
  });

  it('[U24] a kill with grace saves the state, and one without does not', async () => {
    const run = await running('all');
    const graceful = granted(await run.plugin.kill(run.handle('proposal')));
    const forced = granted(await run.plugin.kill(run.handle('numbers'), { grace: false }));
    expect([graceful.cleanShutdown, graceful.state?.serializedBy, forced]).toEqual([
      true,
      'kill_grace',
      { artifactsExtracted: 0, cleanShutdown: false },
    ]);
    const before = run.received.length;
    run.plugin.advance(60_000);
    expect(run.received).toHaveLength(before);
    const again: AgentPlugin['kill'] = run.plugin.kill;
    expect(await again(run.handle('proposal'))).toMatchObject({ error: { code: 'invalid_state' } });
  });

  it('[U24] news of one version arrive once, and too many of them overflow', async () => {
    const scenario = loadScenario('sam');
    const plugin = createMockPlugin({ scenario, transport: inProcessTransport(() => undefined) });
    const brief = {
      ...scenarioBrief(scenario, 'proposal', clock),
      sessionPolicy: { historyPolicy: 'full', contextBudgetTokens: 100 },
    } as const;
    const handle = granted(await plugin.spawn(brief));
    const news = {
      content: 'x',
      format: 'plain',
      snapshotVersion: 1,
      estimatedTokens: 9,
      priority: 'required',
    } as const;
    await plugin.injectContext(handle, news);
    await plugin.injectContext(handle, news);
    expect(plugin.agent(handle.id)?.injections()).toEqual([news]);
    expect(await plugin.injectContext(handle, { ...news, estimatedTokens: 101 })).toMatchObject({
      error: { code: 'context_overflow', currentTokens: 101, maxTokens: 100 },
    });
  });
});

describe('failures', () => {
  it('[U25] are in a variant of every scenario, and every kind of failure is in one', () => {
    const kinds = scenarioNames.flatMap(name => {
      const variants = scenarioVariants(name);
      expect(variants.length).toBeGreaterThan(0);
      return variants.flatMap(variant =>
        loadScenario(name, { variant }).agents.flatMap(({ events }) =>
          events.flatMap(({ failureInjection }) => failureInjection?.type ?? []),
        ),
      );
    });
    const all: Readonly<Record<MockFailure['type'], true>> = {
      error: true,
      timeout: true,
      malformed_event: true,
      crash: true,
      guardrail_trip: true,
      duplicate: true,
      reorder: true,
      gap: true,
      hang: true,
      late_after_kill: true,
    };
    expect(new Set(kinds)).toEqual(new Set(Object.keys(all)));
  });

  it('[U25] duplicate: the same event, with the same identity', async () => {
    const run = await start('maya', { variant: 'duplicates' });
    playAll(run);
    const events = run.told('research');
    const [first, ...again] = events.filter(({ event }) => event.type === 'artifact');
    expect(again.slice(0, 3)).toEqual([first, first, first]);
  });

  it('[U25] reorder: every event arrives, out of order', async () => {
    const run = await start('priya', { variant: 'disorder' });
    playAll(run);
    const order = sequences(run.told('billing'));
    expect(order.slice(0, 6)).toEqual([0, 1, 3, 4, 2, 5]);
    expect(order.toSorted((a, b) => a - b)).toEqual(upTo(order.length - 1));
  });

  it('[U25] gap: an event is lost, and is sent again if the adapter still has it', async () => {
    const run = await start('priya', { variant: 'lost' });
    playAll(run);
    const lost = (name: string) => {
      const there = sequences(run.told(name));
      return upTo(Math.max(...there)).filter(sequence => !there.includes(sequence));
    };
    const replay = (name: string, sequence: number) => {
      const runId = run.told(name)[0]?.runId ?? missing(name);
      return run.plugin.replay(run.id(name), { runId, fromSequence: sequence, toSequence: sequence });
    };
    expect([lost('billing'), lost('platform')]).toEqual([[3], [4]]);
    expect([replay('billing', 3), replay('platform', 4)]).toEqual([true, false]);
    expect([lost('billing'), lost('platform')]).toEqual([[], [4]]);
  });

  it('[U25] malformed_event: what was sent is no event, alone or in an envelope', async () => {
    const run = await start('maya', { variant: 'malformed' });
    playAll(run);
    const bad = run.received.filter(message => !parseStrictly(adapterEvent, message).ok);
    expect(bad).toEqual([
      expect.objectContaining({ sourceSequence: 6, event: { type: 'artifact', name: 'post-2.md' } }),
      'The summary is ready; I saved it.',
    ]);
    expect(malformedEvents(run.id('seo'))).toHaveLength(12);
  });

  it('[U25] crash: nothing more arrives, then another session begins at 0', async () => {
    const crashes: string[] = [];
    const run = await start('david', {
      variant: 'crash',
      onCrash: ({ status }, reason) => crashes.push(`${status}: ${reason}`),
    });
    while (crashes.length === 0) run.plugin.step();
    const before = run.told('backend').length;
    expect(crashes).toEqual(['error: The process ended with signal SIGKILL.']);
    expect(await run.plugin.pause(run.handle('backend'))).toMatchObject({ error: { code: 'invalid_state' } });
    run.plugin.advance(4999);
    expect(run.told('backend')).toHaveLength(before);
    run.plugin.advance(1);
    const [restarted] = run.told('backend').slice(before);
    expect([restarted?.sourceSequence, restarted?.runId === run.told('backend')[0]?.runId]).toEqual([0, false]);
  });

  it('[U25] crash for good: only a new start brings the agent back', async () => {
    const run = await start('david', { variant: 'crash-for-good' });
    playAll(run);
    expect(run.plugin.agent(run.id('frontend'))?.standing()).toBe('crashed');
    const again = granted(await run.plugin.spawn(scenarioBrief(run.scenario, 'frontend', clock)));
    expect(again.sessionId).toBe('mock-1');
  });

  it('[U25] error: the next call fails once, and a start fails once', async () => {
    const run = await start('david', { variant: 'error' });
    expect(() => run.handle('tests')).toThrow();
    const second = await run.plugin.spawn(scenarioBrief(run.scenario, 'tests', clock));
    expect(second.ok).toBe(true);
    while (run.plugin.agent(run.id('frontend'))?.standing() !== 'blocked') run.plugin.step();
    const kill = () => run.plugin.kill(run.handle('frontend'));
    expect(await kill()).toEqual({ ok: false, error: { code: 'rate_limited', retryAfterMs: 2000 } });
    expect((await kill()).ok).toBe(true);
  });

  it('[U25] timeout: an event comes as late as the script says', async () => {
    const run = await start('maya', { variant: 'late-completion' });
    run.plugin.advance(600_000);
    expect(types(run.told('writer'))).not.toContain('completion');
    run.plugin.advance(60_000);
    expect(types(run.told('writer'))).toContain('completion');
  });

  it('[U25] guardrail_trip: the event is blocked, and the guardrail says so', async () => {
    const run = await start('rosa', { variant: 'guardrail' });
    playAll(run);
    const names = run.told('library').flatMap(({ event }) => (event.type === 'artifact' ? [event.name] : []));
    expect(names).not.toContain('paper-3.md');
    expect(run.told('library').find(({ event }) => event.type === 'guardrail')?.event).toMatchObject({
      guardrailName: 'licence',
      tripped: true,
    });
  });

  it('[U25] hang: the agent says nothing and answers nothing, until it is killed', async () => {
    const run = await start('sam', { variant: 'hang' });
    playAll(run);
    expect(run.plugin.agent(run.id('proposal'))?.standing()).toBe('hung');
    expect(await run.plugin.pause(run.handle('proposal'))).toMatchObject({
      error: { code: 'provider_unavailable', retryable: true },
    });
    expect(granted(await run.plugin.kill(run.handle('proposal')))).toEqual({
      artifactsExtracted: 0,
      cleanShutdown: false,
    });
  });

  it('[U25] late_after_kill: an event arrives after the kill', async () => {
    const run = await start('david', { variant: 'late-after-kill' });
    run.plugin.advance(7000);
    expect(types(run.told('backend'))).not.toContain('artifact');
    await run.plugin.kill(run.handle('backend'));
    const before = run.told('backend').length;
    run.plugin.advance(1);
    expect(types(run.told('backend').slice(before))).toEqual(['artifact']);
  });

  it.each(scenarioNames.flatMap(name => scenarioVariants(name).map(variant => [name, variant] as const)))(
    '[U25] %s, %s: ends, and is the same on every run',
    async (name, variant) => {
      const runs = await Promise.all([start(name, { variant }), start(name, { variant })]);
      for (const run of runs) playAll(run);
      expect(runs[0].received).toEqual(runs[1].received);
    },
  );
});

describe('what models say of artifacts', () => {
  it('[U27] is in the scenario, for a pair in both directions', async () => {
    const { coherence, agents } = loadScenario('david');
    const { computeSimilarity, review } = mockCoherence(coherence);
    const [pair] = coherence.artifactSimilarities;
    if (pair === undefined) throw new Error('no pair');
    const { artifactIdA: a, artifactIdB: b } = pair;
    expect([await computeSimilarity(a, b), await computeSimilarity(b, a), await computeSimilarity(a, a)]).toEqual([
      0.91, 0.91, 0,
    ]);
    const results = await review([
      { artifactIdA: b, artifactIdB: a },
      { artifactIdA: a, artifactIdB: a },
    ]);
    expect(results.map(({ candidateId, confirmed }) => [candidateId, confirmed])).toEqual([
      [`${b}:${a}`, true],
      [`${a}:${a}`, false],
    ]);
    expect(results[0]?.notifyAgentIds).toEqual(agents.slice(0, 2).map(({ agentId }) => agentId));
  });
});
