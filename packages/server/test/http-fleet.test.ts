import { subscribeFleet } from '@signalbox/app/fleet';
import { createClient } from '@signalbox/client';
import type { FleetMessage, Json, ServerMessage } from '@signalbox/model';
import { expect, it, onTestFinished } from 'vitest';
import { fleetStage, type StageOptions } from '../../app/test/fleet/fleet-stage.ts';
import { startBare } from './access/access-stage.ts';
import { liveClient } from './live-client.ts';
import { memoryUsers } from './memory-users.ts';
import { scriptedHost } from './scripted-host.ts';

/** A server with a fleet that plays a scenario, and clients of each role. */
async function given(options: StageOptions = {}) {
  const stage = await fleetStage({ answers: false, ...options });
  const host = scriptedHost();
  const server = await startBare({
    host,
    token: 'the-owner',
    users: memoryUsers({
      operates: { name: 'oscar', role: 'operator' },
      approves: { name: 'ann', role: 'approver' },
      views: { name: 'vera', role: 'viewer' },
      acts: { name: 'agent', role: 'agent' },
    }),
    fleet: stage.desk,
  });
  onTestFinished(() => server.close());
  const as = (token: string) => createClient({ url: server.url, token });
  const get = async (path: string, token = 'views') =>
    (await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).status;
  return { stage, url: server.url, host, oscar: as('operates'), ann: as('approves'), vera: as('views'), get };
}

it('[V370] lists, shows, spawns, stops and starts agents, each by who may', async () => {
  const { stage, oscar, vera, get } = await given();
  const backend = stage.agent('backend');
  const listed = await vera.fleetAgents();
  expect(listed.ok && listed.value.agents.map(({ name, standing }) => [name, standing])).toEqual([
    ['backend', 'working'],
    ['frontend', 'working'],
    ['tests', 'working'],
  ]);
  expect(await vera.fleetAgent(backend)).toMatchObject({
    ok: true,
    value: { name: 'backend', brief: { workstream: 'backend' } },
  });
  expect(await vera.fleetAgent('nobody')).toMatchObject({ ok: false, error: { code: 'fleet/agent-unknown' } });
  expect(await vera.killAgent(backend)).toMatchObject({ ok: false, error: { code: 'request/forbidden' } });
  expect(await get('/api/agents', 'acts')).toBe(403);
  expect(await oscar.pauseAgent(backend, 'wait')).toMatchObject({ ok: true });
  await stage.host.idle();
  expect(await oscar.pauseAgent(backend)).toMatchObject({ ok: false, error: { code: 'fleet/agent-not-live' } });
  expect(await oscar.changeBrief(backend, { description: 'New' })).toMatchObject({
    ok: true,
    value: { brief: { description: 'New' } },
  });
  expect(await oscar.resumeAgent(backend)).toMatchObject({ ok: true });
  await stage.host.idle();
  expect(await oscar.restartAgent(backend)).toMatchObject({ ok: true });
  await stage.host.idle();
  expect(await vera.fleetAgent(backend)).toMatchObject({ ok: true, value: { status: 'running', lives: 3 } });
  expect(await oscar.killAgent(backend, 'enough')).toMatchObject({ ok: true });
  await stage.host.idle();
  expect(await vera.fleetAgent(backend)).toMatchObject({ ok: true, value: { standing: 'dead' } });
  const again = { name: 'backend', plugin: 'mock', brief: {}, agentId: backend };
  expect(await oscar.spawnAgent({ ...again, plugin: 'none' })).toMatchObject({
    ok: false,
    error: { code: 'fleet/plugin-unknown' },
  });
  expect(await oscar.spawnAgent(again)).toMatchObject({
    ok: true,
    value: { status: 'starting', brief: { description: 'New' } },
  });
});

it('[V371] has one queue of agents and runs, and answers either once', async () => {
  const { stage, host, ann } = await given();
  const run = await host.begin('release');
  const asked = await run.ask('deploy', { tool: 'deploy' } as Json);
  await stage.until(() => (stage.desk.queue().length > 0 ? true : undefined));
  const queue = await ann.queue();
  if (!queue.ok) throw new Error(queue.error.message);
  expect(queue.value.decisions.map(({ from }) => from)).toEqual([...stage.desk.queue().map(() => 'agent'), 'run']);
  const [first] = queue.value.decisions;
  const id = first?.from === 'agent' ? first.decision.id : undefined;
  if (id === undefined) throw new Error('a decision of an agent was expected');
  const stale = { status: 'approved', proposalHash: `sha256:${'0'.repeat(64)}` } as const;
  expect(await ann.resolveDecision(id, stale as never)).toMatchObject({
    ok: false,
    error: { code: 'decision/stale-proposal' },
  });
  expect(await ann.resolveDecision(id, { status: 'approved' })).toMatchObject({
    ok: true,
    value: { from: 'agent', decision: { status: 'answered', closedBy: 'ann' } },
  });
  expect(await ann.resolveDecision(id, { status: 'denied' })).toMatchObject({
    ok: true,
    value: { decision: { resolution: { resolutionType: 'approve' } } },
  });
  expect(await ann.resolveDecision(asked.id, { status: 'approved' })).toMatchObject({
    ok: true,
    value: { from: 'run' },
  });
  expect(await ann.resolveDecision('nothing', { status: 'approved' })).toMatchObject({
    ok: false,
    error: { code: 'decision/unknown' },
  });
});

it('[V372] engages and releases brakes, and changes the mode', async () => {
  const { stage, oscar, vera } = await given();
  const scope = { type: 'workstream', workstream: 'backend' } as const;
  expect(await oscar.brake({ scope, reason: 'look', behavior: 'pause' })).toMatchObject({ ok: true });
  await stage.host.idle();
  const brakes = await vera.brakes();
  expect(brakes).toMatchObject({
    ok: true,
    value: {
      brakes: [{ action: { initiatedBy: 'oscar' }, agents: [{ agentId: stage.agent('backend'), outcome: 'paused' }] }],
    },
  });
  expect(await oscar.resumeAgent(stage.agent('backend'))).toMatchObject({ ok: false, error: { code: 'fleet/braked' } });
  expect(await oscar.releaseBrake()).toMatchObject({
    ok: true,
    value: { brakes: [{ released: { by: 'oscar', cause: 'manual' } }] },
  });
  expect(await oscar.releaseBrake()).toMatchObject({ ok: false, error: { code: 'fleet/brake-unknown' } });
  expect(await vera.setControlMode('adaptive')).toMatchObject({ ok: false, error: { code: 'request/forbidden' } });
  expect(await oscar.setControlMode('adaptive')).toEqual({ ok: true, value: { mode: 'adaptive' } });
  expect(await vera.controlMode()).toEqual({ ok: true, value: { mode: 'adaptive' } });
});

it('[V373] [V374] [V375] [V376] shows trust with its proof, ticks, coherence, artifacts and the log', async () => {
  const { stage, oscar, ann, vera } = await given({ answers: true });
  await stage.pass(25_000);
  const backend = stage.agent('backend');
  expect(await vera.trust(backend)).toMatchObject({ ok: true, value: { profile: 'balanced', calibrationMode: false } });
  expect(await vera.recomputeTrust(backend)).toMatchObject({ ok: true, value: { ok: true } });
  expect(await vera.simulateTrust(backend, { profile: 'permissive' })).toMatchObject({
    ok: true,
    value: { profile: 'permissive' },
  });
  expect(await oscar.advanceTicks({ by: 7 })).toMatchObject({ ok: true, value: { current: 7 } });
  expect(await vera.ticks()).toMatchObject({ ok: true, value: { current: 7, config: { mode: 'manual' } } });
  const coherence = await vera.coherence();
  const [issue] = coherence.ok ? coherence.value.issues : [];
  expect(await ann.settleIssue(issue?.id ?? '', 'dismissed')).toMatchObject({ ok: true });
  expect(await ann.settleIssue('no-issue', 'dismissed')).toMatchObject({
    ok: false,
    error: { code: 'fleet/issue-unknown' },
  });
  const artifacts = await vera.knownArtifacts({ workstream: 'backend' });
  const [artifact] = artifacts.ok ? artifacts.value.artifacts : [];
  if (artifact === undefined) throw new Error('an artifact was expected');
  expect(artifact.workstream).toBe('backend');
  const stale = await ann.reviewArtifact(artifact.id, { status: 'approved', expectedVersion: 99 });
  expect(stale).toMatchObject({ ok: false, error: { code: 'fleet/version-conflict' } });
  const before = stage.desk.agents().find(({ id }) => id === artifact.agentId)?.trust ?? 0;
  expect(await ann.reviewArtifact(artifact.id, { status: 'rejected' })).toMatchObject({
    ok: true,
    value: { status: 'rejected' },
  });
  expect(stage.desk.agents().find(({ id }) => id === artifact.agentId)?.trust).toBe(before - 2);
  expect(await vera.fleet()).toMatchObject({ ok: true, value: { sync: { type: 'state_sync' }, plugins: ['mock'] } });
  const first = await vera.fleetLog({ kind: 'event', agent: backend, limit: 3 });
  const [, , last] = first.ok ? first.value.entries : [];
  const next = await vera.fleetLog({ kind: 'event', agent: backend, limit: 3, before: last?.place ?? '' });
  const ids = [first, next].flatMap(page => (page.ok ? page.value.entries.map(({ id }) => id) : []));
  expect([ids.length, new Set(ids).size]).toEqual([6, 6]);
  expect(await vera.fleetLog({ kind: 'event', before: 'x' })).toMatchObject({
    ok: false,
    error: { code: 'VALIDATION_ERROR' },
  });
});

it('[V377] sends the state of the fleet to who subscribes, then what happens, and again the state to who was slow', async () => {
  const { stage, url } = await given();
  const client = await liveClient(url);
  client.say({ kind: 'hello', token: 'views' });
  client.say({ kind: 'subscribe', run: 'fleet' });
  const { message } = await client.first('fleet');
  expect(message).toEqual(stage.desk.sync());
  await stage.desk.setMode('ecosystem', 'ada');
  await stage.desk.brake({ scope: { type: 'all' }, reason: 'stop', behavior: 'pause' }, 'ada');
  await client.first('fleet', one => one.message.type === 'state_sync' && one.message.controlMode === 'ecosystem');
  await client.first('fleet', one => one.message.type === 'brake');
  await client.first('fleet', one => one.message.type === 'trust_update' && one.message.delta === -3);
  await client.first('fleet', one => one.message.type === 'event' && one.message.envelope.event.type === 'lifecycle');
  client.say({ kind: 'unsubscribe', run: 'fleet' });
  client.close();
  const agent = await liveClient(url);
  agent.say({ kind: 'hello', token: 'acts' });
  expect(await agent.closed).toBe(4401);

  const sent: FleetMessage['type'][] = [];
  const outbox = {
    isFree: false,
    send(given: ServerMessage) {
      if (given.kind === 'fleet') sent.push(given.message.type);
    },
  };
  const subscription = subscribeFleet(stage.desk, outbox);
  await stage.desk.setMode('adaptive', 'ada');
  expect(sent).toEqual([]);
  outbox.isFree = true;
  subscription.pump();
  expect(sent).toEqual(['state_sync']);
  await stage.desk.setMode('orchestrator', 'ada');
  expect(sent).toEqual(['state_sync', 'state_sync']);
  subscription.close();
});

it('[V410] lists decisions of agents as approvals of the contract, and takes their answers there, once', async () => {
  const { stage, ann, vera } = await given();
  const { id, agentId, subject } = await stage.until(() =>
    stage.desk
      .queue()
      .flatMap(one => (one.from === 'agent' ? [one.decision] : []))
      .find(one => one.subject.subtype === 'tool_approval'),
  );
  const toolName = subject.subtype === 'tool_approval' ? subject.toolName : '';
  const listed = await vera.decisions({ kind: 'agent' });
  expect(listed.ok && listed.value.approvals.find(({ approvalId }) => approvalId === id)).toMatchObject({
    ...{ kind: 'agent', nodeId: agentId, tool: { name: toolName } },
    decision: { status: 'open', proposal: subject, askedAt: expect.stringMatching(/^\d{4}-/) },
  });
  const idsOf = async (asked: object) => {
    const page = await vera.decisions(asked);
    return page.ok ? page.value.approvals.map(({ approvalId }) => approvalId) : page.error;
  };
  expect([await idsOf({}), await idsOf({ kind: 'plan' })]).toEqual([
    expect.arrayContaining([id]),
    expect.not.arrayContaining([id]),
  ]);
  expect(await vera.resolve(id, { status: 'approved' })).toMatchObject({ error: { code: 'request/forbidden' } });
  const answered = await ann.resolve(id, { status: 'approved', rationale: 'fine' });
  expect(answered).toMatchObject({
    ok: true,
    value: { approvalId: id, resolution: { status: 'approved' }, decision: { status: 'answered' } },
  });
  expect(await ann.resolve(id, { status: 'denied' })).toMatchObject({ value: { resolution: { status: 'approved' } } });
  expect(await idsOf({ kind: 'agent', status: 'answered' })).toContain(id);
  expect(await idsOf({ kind: 'agent' })).not.toContain(id);
});
