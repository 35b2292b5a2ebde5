import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defaultFleetConfig, emptyFleet, fact, foldFleet } from '@signalbox/fleet';
import { type AgentPlugin, asJson, deriveId, err, failure, type Json, ok } from '@signalbox/model';
import { expect, it } from 'vitest';
import { openFleetHost } from '../../src/fleet/fleet-host.ts';
import { factsFrom, readFleet } from '../../src/fleet/fleet-log.ts';
import { unservedReads } from '../../src/fleet/unserved-reads.ts';
import { verifyProject } from '../../src/projects/verify-project.ts';
import { type FleetStage, fleetStage } from './fleet-stage.ts';

const reads = (stage: FleetStage) => readFleet(stage.store, stage.host.project);
const said = (stage: FleetStage, type: string) =>
  stage.messages.flatMap(message =>
    message.type === 'event' && message.envelope.event.type === type ? [message.envelope.event] : [],
  );

it('[A960] commits a fact before its caller is answered, watchers are told, or an agent is called', async () => {
  const stage = await fleetStage({ plays: false });
  const order: string[] = [];
  stage.store.onProjectCommit(() => order.push('committed'));
  stage.host.subscribe(({ type }) => order.push(type));
  const happening = stage
    .happen({ kind: 'mode_changed', mode: 'ecosystem', by: 'ada' })
    .then(() => order.push('answered'));
  expect(stage.state().control.mode).toBe('orchestrator');
  await happening;
  expect(order[0]).toBe('committed');
  expect(order.toSorted()).toEqual(['answered', 'committed', 'state_sync']);
  expect(reads(stage).state.control.mode).toBe('ecosystem');
});

it('[A961] answers a caller whose fact was not committed, tries others again, and changes nothing meanwhile', async () => {
  const stage = await fleetStage({ plays: false });
  const broken = failure('STORE_IO_FAILED', { message: 'The disk is full.', suggestion: 'Free some space.' });
  let isFull = true;
  const host = await openFleetHost({
    project: deriveId('another-project'),
    log: {
      ...stage.store,
      commitToProject: async (...commit) => (isFull ? err(broken) : stage.store.commitToProject(...commit)),
    },
    machine: stage.machine,
    filter: { data: value => value, has: () => false },
    config: defaultFleetConfig,
    plugins: [],
    onFault: thrown => stage.faults.push(thrown),
  });
  expect(await host.happen({ kind: 'mode_changed', mode: 'adaptive', by: 'ada' })).toEqual(err(broken));
  expect(host.state()).toEqual(emptyFleet);
  isFull = false;
  expect(await host.happen({ kind: 'mode_changed', mode: 'adaptive', by: 'ada' })).toMatchObject({ ok: true });
  expect(host.state().control.mode).toBe('adaptive');
  await host.close();
});

it('[A962] delivers an answer that no agent acknowledged once its agent is back, and never asks again', async () => {
  const stage = await fleetStage({ answers: false });
  const [asked] = await stage.until(() => (stage.desk.queue().length > 0 ? stage.desk.queue() : undefined));
  if (asked?.from !== 'agent') throw new Error('a decision of an agent was expected');
  const { id, agentId } = asked.decision;
  await stage.restart();
  expect(stage.desk.agents().find(agent => agent.id === agentId)).toMatchObject({
    status: 'error',
    standing: 'failed',
  });
  const answered = await stage.desk.resolve(id, { status: 'approved' }, 'ada');
  expect(answered).toMatchObject({ ok: true, value: { decision: { status: 'answered', delivery: 'pending' } } });
  const question = stage.desk.queue().find(({ from }) => from === 'agent');
  expect(question).toBeDefined();
  const crash = stage.desk
    .queue()
    .flatMap(one => (one.from === 'agent' ? [one.decision] : []))
    .find(decision => decision.agentId === agentId && decision.id !== id);
  await stage.desk.resolve(
    crash?.id ?? '',
    { resolution: { resolutionType: 'choose_option', chosenOptionId: 'restart', rationale: '', actionKind: 'review' } },
    'ada',
  );
  await stage.until(() => (stage.state().decisions.items[id]?.delivery === 'done' ? true : undefined));
  expect(stage.state().agents.agents[agentId]).toMatchObject({ status: 'running', lives: 2 });
  const asks = () => said(stage, 'decision').filter(event => 'decisionId' in event && event.decisionId === id).length;
  await stage.until(() => (asks() === 2 ? true : undefined));
  await stage.host.idle();
  expect(stage.desk.queue().filter(one => one.from === 'agent' && one.decision.id === id)).toEqual([]);
  expect(stage.state().decisions.items[id]).toMatchObject({ status: 'answered', closedBy: 'ada' });
});

it('[A962] starts an agent that was starting, and ends one that was being killed', async () => {
  const stage = await fleetStage({
    wrap: plugin => ({ ...plugin, plugin: { ...plugin.plugin, spawn: stuck, kill: stuck } }),
  });
  expect(stage.desk.agents().map(({ status }) => status)).toEqual(['starting', 'starting', 'starting']);
  expect(stage.calls.map(({ call }) => call)).toEqual(['spawn', 'spawn', 'spawn']);
  await stage.desk.kill(stage.agent('tests'), 'not needed', 'ada');
  const other = await fleetStage({ plays: false });
  const host = await openFleetHost({
    project: stage.host.project,
    log: stage.store,
    machine: stage.machine,
    filter: { data: value => value, has: () => false },
    config: stage.state().config,
    plugins: [],
    onFault: thrown => other.faults.push(thrown),
  });
  await host.idle();
  const statuses = Object.values(host.state().agents.agents).map(({ name, status }) => [name, status]);
  // Without their plugin, the start fails; the one that was being killed is not started.
  expect(statuses).toEqual([
    ['backend', 'error'],
    ['frontend', 'error'],
    ['tests', 'killed'],
  ]);
  expect(other.faults).toEqual([]);
  await host.close();
});

const stuck = () => new Promise<never>(() => {});

it('[A964] begins with a kept state, and comes to the same as from the first record', async () => {
  const stage = await fleetStage();
  await stage.pass(3_000);
  const row = stage.store.project(stage.host.project);
  if (row === undefined) throw new Error('the project has a log');
  stage.store.keepState(stage.host.project, { records: row.records, head: row.head, state: asJson(stage.state()) });
  await stage.pass(3_000);
  const { state, keptAt } = reads(stage);
  expect(keptAt).toBe(row.records);
  expect(state).toEqual(foldFleet(factsFrom(stage.store, stage.host.project)));
  expect(state).toEqual(stage.state());
});

it('[A964] verifying a project compares the kept state with what its facts lead to', async () => {
  const stage = await fleetStage();
  await stage.pass(3_000);
  const { project } = stage.host;
  const keep = (state: object) => {
    const row = stage.store.project(project);
    if (row !== undefined)
      stage.store.keepState(project, { records: row.records, head: row.head, state: asJson(state) });
  };
  keep(stage.state());
  expect(await verifyProject(stage.home, project)).toMatchObject({ ok: true, value: { ok: true } });
  keep({ ...stage.state(), ownEvents: {} });
  expect(await verifyProject(stage.home, project)).toMatchObject({
    ok: true,
    value: { ok: false, defects: [{ where: 'table', table: 'project_states' }] },
  });
});

it('[A965] pauses agents when it closes, and the next host resumes those that nobody else holds', async () => {
  const stage = await fleetStage({ answers: false });
  await stage.pass(1_000);
  await stage.desk.pause(stage.agent('tests'), 'later', 'ada');
  await stage.host.idle();
  await stage.reopen();
  expect(stage.desk.agents().map(({ name, status, lives }) => [name, status, lives])).toEqual([
    ['backend', 'running', 2],
    ['frontend', 'running', 2],
    ['tests', 'paused', 1],
  ]);
  expect(said(stage, 'error')).toEqual([]);
});

it('[A966] tells what an agent says while it starts after the fact that it started', async () => {
  const stage = await fleetStage();
  const facts = [...factsFrom(stage.store, stage.host.project)].filter(
    one => 'agentId' in one && one.agentId === stage.agent('backend'),
  );
  expect(facts.map(({ kind }) => kind).slice(0, 3)).toEqual(['agent_requested', 'agent_started', 'event_received']);
});

it('[A967] keeps at most 500 waiting messages of an agent, drops the least important, and says how many', async () => {
  const sinks: ((message: unknown) => void)[] = [];
  const stage = await fleetStage({ plays: false });
  const backend = stage.agent('backend');
  const host = await openFleetHost({
    project: deriveId('a-flood'),
    log: stage.store,
    machine: stage.machine,
    filter: { data: value => value, has: () => false },
    config: stage.state().config,
    plugins: [
      ports => {
        sinks.push(ports.transportOf(backend).eventSink);
        return {
          plugin: {
            ...nothing,
            spawn: async brief => ({
              ok: true,
              value: { id: brief.agentId, pluginName: 'flood', status: 'running', sessionId: 's' },
            }),
          },
          toolClassifications: [],
          sessionOf: () => deriveId('flood-session'),
          replay: () => false,
          close: async () => {},
        };
      },
    ],
    onFault: thrown => stage.faults.push(thrown),
  });
  const brief = { role: 'Flood', workstream: 'main' };
  await host.happen({
    kind: 'agent_requested',
    agentId: backend,
    name: 'f',
    pluginName: 'flood',
    template: brief,
    changes: {},
    by: 'ada',
  });
  await host.idle();
  const message = (n: number, event: Json) => ({
    sourceEventId: deriveId('flood', n),
    sourceSequence: n,
    sourceOccurredAt: '2026-01-01T00:00:00.000Z',
    runId: deriveId('flood-session'),
    event: { agentId: backend, ...(event as object) },
  });
  for (let n = 0; n < 700; n += 1) {
    const isKept = n % 100 === 0;
    sinks[0]?.(
      message(
        n,
        isKept
          ? { type: 'error', severity: 'low', message: `${n}`, recoverable: true, category: 'tool' }
          : { type: 'status', message: `${n}` },
      ),
    );
  }
  await host.idle();
  const { counts } = host.state().pipeline.agents[backend] ?? {};
  expect(counts).toMatchObject({ dropped: 200, received: 500 });
  const errors = stage.store.things(host.project, { kind: 'event', status: 'error', limit: 50 });
  const texts = errors.map(
    ({ value }) => (value as { envelope: { event: { message: string } } }).envelope.event.message,
  );
  expect(texts).toContain('0');
  expect(texts).toContain(`backpressure: 200 events dropped for agent ${backend}`);
  await host.close();
});

const gone = async () => err({ code: 'invalid_state', message: 'gone' } as const);
const nothing: AgentPlugin = {
  name: 'flood',
  version: '1',
  capabilities: { supportsPause: false, supportsResume: false, supportsKill: false, supportsHotBriefUpdate: false },
  spawn: gone,
  pause: gone,
  resume: gone,
  kill: gone,
  resolveDecision: async () => ok(undefined),
  injectContext: async () => ok(undefined),
  updateBrief: gone,
};

it('[A969] records how long a braked agent took to fall silent, and refuses and counts what it sends later', async () => {
  const stage = await fleetStage({
    load: { variant: 'late-after-kill' },
    config: { ticks: { intervalMs: 1000, mode: 'wall_clock' } },
  });
  await stage.pass(1_500);
  await stage.desk.brake({ scope: { type: 'all' }, reason: 'stop', behavior: 'kill' }, 'ada');
  await stage.pass(2_000);
  const [brake] = stage.desk.brakes().brakes;
  expect(brake?.agents.map(({ outcome, silentAfterMs }) => [outcome, silentAfterMs !== null])).toEqual(
    brake?.agents.map(() => ['killed', true]),
  );
  expect(stage.desk.agents().filter(({ standing }) => standing !== 'dead')).toEqual([]);
});

it('[A970] lets nothing about trust leave for an agent, in any call of any scenario', async () => {
  const rule = { predicate: { field: 'trustScore', op: 'lt', value: 40 }, description: 'Trust below 40' } as const;
  for (const scenario of ['david', 'priya', 'sam'] as const) {
    const stage = await fleetStage({ scenario });
    const id = stage.agent(stage.scenario.agents[0]?.name ?? '');
    const escalationProtocol = { alwaysEscalate: [], escalateWhen: [rule], neverEscalate: [] };
    await stage.desk.changeBrief(
      id,
      { escalationProtocol, providerConfig: { experimental: { trustScore: 12 } } },
      'ada',
    );
    await stage.pass(4_000);
    await stage.desk.setMode('adaptive', 'ada');
    await stage.desk.restart(id, 'ada');
    await stage.pass(12_000);
    expect(stage.calls.length).toBeGreaterThan(5);
    expect(JSON.stringify(stage.calls)).not.toMatch(/trust/i);
  }
});

it('[A974] computes the trust of every agent of every scenario again, and names a record that was changed', async () => {
  for (const scenario of ['david', 'maya', 'priya', 'rosa', 'sam'] as const) {
    const stage = await fleetStage({ scenario });
    await stage.pass(25_000);
    await stage.happen({ kind: 'ticks_advanced', by: 500 });
    for (const { id, trust } of stage.desk.agents()) {
      expect(stage.desk.proveTrust(id)).toMatchObject({ ok: true, value: { ok: true, score: trust, computed: trust } });
      const simulated = stage.desk.simulateTrust(id, 'conservative');
      expect(simulated).toMatchObject({ ok: true, value: { actual: trust } });
    }
  }
});

it('[A973] comes to rest when a service answers at once', async () => {
  const stage = await fleetStage({ plays: false });
  const host = await openFleetHost({
    project: deriveId('services-that-answer-at-once'),
    log: stage.store,
    machine: stage.machine,
    filter: { data: value => value, has: () => false },
    config: stage.state().config,
    plugins: [],
    services: { similarities: async () => [], reviews: async () => [] },
    onFault: thrown => stage.faults.push(thrown),
  });
  // However many turns pass between the last commit of the loop and a fact that arrives as it ends.
  for (let turns = 0; turns < 12; turns += 1) {
    const happened = host.happen({ kind: 'mode_changed', mode: turns % 2 === 0 ? 'adaptive' : 'ecosystem', by: 'ada' });
    const late = happened.then(async () => {
      for (let turn = 0; turn < turns; turn += 1) await undefined;
      return host.happen({ kind: 'ticks_advanced', by: 1 });
    });
    expect(await late).toMatchObject({ ok: true });
    await host.idle();
  }
  expect(stage.faults).toEqual([]);
  await host.close();
});

it('[A976] stores no known secret, shows none, and folds what it stores', async () => {
  const secret = 'open-sesame-42';
  const stage = await fleetStage({ secrets: [secret] });
  const agentId = stage.agent('backend');
  const session = stage.state().agents.agents[agentId]?.session ?? '';
  await stage.desk.changeBrief(agentId, { description: `Log in with ${secret}` }, 'ada');
  // What an agent says: an event, text, and a message that no schema accepts.
  const sent = {
    sourceEventId: deriveId('a-leak'),
    sourceSequence: 1,
    sourceOccurredAt: '2026-01-01T00:00:00.000Z',
    runId: session,
  };
  const status = { type: 'status', agentId, message: `token ${secret}` };
  for (const payload of [{ ...sent, event: status }, `plain text with ${secret}`, { [secret]: [secret] }])
    await stage.happen({ kind: 'event_received', agentId, payload });
  await stage.desk.pause(agentId, `the password is ${secret}`, 'ada');
  await stage.host.idle();
  const facts = [...factsFrom(stage.store, stage.host.project)];
  const kinds = ['event', 'quarantined', 'audit', 'decision'] as const;
  const shown = kinds.map(kind => stage.desk.log({ kind, limit: 500 }));
  for (const all of [facts, stage.state(), shown, stage.messages, stage.desk.sync()])
    expect(JSON.stringify(all)).not.toContain(secret);
  expect(JSON.stringify(facts)).toContain('[redacted: SECRET_0]');
  expect(stage.state().pipeline.quarantine.total).toBe(1);
  expect(fact.array().safeParse(facts).success).toBe(true);
  expect(foldFleet(facts)).toEqual(stage.state());
  const files = readdirSync(stage.home).map(file => readFileSync(path.join(stage.home, file)));
  expect(files.filter(bytes => bytes.includes(secret))).toEqual([]);
});

it('[A982] shows no agent as working where no server runs it', async () => {
  const stage = await fleetStage({ answers: false });
  await stage.desk.kill(stage.agent('tests'), 'enough', 'ada');
  await stage.host.idle();
  const because = 'No server runs it. Start one with: signalbox serve';
  const reads = unservedReads(stage.desk);
  expect(reads.agents().map(agent => [agent.name, agent.standing, agent.because])).toEqual([
    ['backend', 'blocked', because],
    ['frontend', 'blocked', because],
    ['tests', 'dead', expect.any(String)],
  ]);
  expect(reads.agent(stage.agent('backend'))).toMatchObject({ ok: true, value: { standing: 'blocked', because } });
  expect(reads.agent('nobody')).toMatchObject({ ok: false });
});
