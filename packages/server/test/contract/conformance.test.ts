import {
  artifact,
  artifactList,
  CONTRACT_VERSION,
  run as contractRun,
  decisionList,
  errorEnvelope,
  eventList,
  frameList,
  type Json,
  nodeId,
  type RunEventType,
  type RunId,
  type RunSnapshot,
  runEvent,
  runList,
  runSnapshot,
  runSummary,
  type SaidEvent,
  type ServerMessage,
  saidEvent,
  serverMessage,
  type WireArtifact,
  type WireDecision,
  wireArtifact,
  wireDecision,
} from '@signalbox/model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { filledIn, NOTES } from '../../../guided/test/support/agent-calls.ts';
import { TOKEN, UNKNOWN } from '../http-asker.ts';
import { type LiveClient, liveClient } from '../live-client.ts';
import { openStage, type Stage } from './stage.ts';

/** "Minimal REST endpoints" of the contract, word by word. */
const ENDPOINTS = [
  'POST /api/runs',
  'GET /api/runs',
  'GET /api/runs/:id',
  'GET /api/runs/:id/events',
  'POST /api/runs/:id/nodes',
  'PATCH /api/runs/:id/nodes/:nodeId',
  'POST /api/runs/:id/edges',
  'DELETE /api/runs/:id/edges/:edgeId',
  'POST /api/runs/:id/chat',
  'GET /api/approvals',
  'POST /api/approvals/:id/resolve',
] as const;

/** "Event stream (WS)" of the contract, word by word. */
const EVENTS = [
  ...['run.patch', 'run.phase', 'run.mode', 'run.stalled'],
  ...['node.patch', 'node.progress'],
  ...['edge.created', 'edge.deleted'],
  'handoff.sent',
  ...['message.user', 'message.assistant.delta', 'message.assistant.final'],
  ...['tool.proposed', 'tool.started', 'tool.completed'],
  ...['approval.requested', 'approval.resolved'],
  'artifact.created',
] as const;

/** Where each event is heard; a graph lays out nodes while it runs, and is what the others need (design R20). */
const heardIn: {
  readonly [Type in RunEventType]: readonly ('plan' | 'turns' | 'storm' | 'guided' | 'said')[] | 'only graphs';
} = {
  'run.patch': ['plan', 'storm', 'guided'],
  'run.phase': ['plan', 'guided'],
  'run.mode': ['guided'],
  'run.stalled': ['storm'],
  'node.patch': ['plan', 'guided'],
  'node.progress': ['plan', 'guided'],
  'edge.created': ['guided'],
  'edge.deleted': 'only graphs',
  'handoff.sent': 'only graphs',
  'message.user': ['plan'],
  'message.assistant.delta': ['said'],
  'message.assistant.final': ['plan', 'turns', 'guided'],
  'tool.proposed': ['plan', 'turns'],
  'tool.started': ['plan', 'turns'],
  'tool.completed': ['plan', 'turns'],
  'approval.requested': ['plan', 'guided'],
  'approval.resolved': ['plan', 'guided'],
  'artifact.created': ['plan', 'turns', 'said'],
};

let stage: Stage;
/** The answers to signals that the plan does not declare. */
let unheard: readonly unknown[] = [];
const runs = { plan: '' as RunId, turns: '' as RunId, storm: '' as RunId, guided: '' as RunId };
const clients: Record<string, LiveClient> = {};
let asked: WireDecision;
let resolved: WireDecision;

async function read<Schema extends z.ZodType>(
  schema: Schema,
  method: string,
  place: string,
  body?: Json,
  status = 200,
) {
  const answer = await stage.ask(method, place, body);
  const told: unknown = await answer.json();
  expect([answer.status, answer.headers.get('content-type'), told]).toMatchObject([
    status,
    expect.stringContaining('application/json'),
    {},
  ]);
  return schema.parse(told) as z.infer<Schema>;
}

/** Every error is the one envelope with its status. */
async function refused(method: string, place: string, body?: Json, headers?: Record<string, string>) {
  const answer = await stage.ask(method, place, body, headers);
  const { code, suggestion } = errorEnvelope.parse(await answer.json());
  expect(suggestion).not.toBe('');
  return [answer.status, code];
}

async function watch(run: RunId): Promise<LiveClient> {
  const client = await liveClient(stage.url, { token: TOKEN });
  client.say({ kind: 'subscribe', run, from: 0 });
  await client.first('state');
  return client;
}

const waiting = async (run: RunId) => (await read(decisionList, 'GET', `/api/approvals?run=${run}`)).approvals[0];
const shown = (run: RunId) => read(runSnapshot, 'GET', `/api/runs/${run}`);
async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise(resolve => setImmediate(resolve));
  }
}

beforeAll(async () => {
  stage = await openStage();
  const { agentPlan: file, directory, stormPlan, tools } = stage;
  const begin = { file, directory, name: 'conform', tags: ['c'] };
  const started = await read(runSummary, 'POST', '/api/runs', begin, 201);
  runs.plan = started.id;
  clients.plan = await watch(runs.plan);
  asked = await until(() => waiting(runs.plan));
  const signals = `/api/runs/${runs.plan}/signals`;
  unheard = [
    await refused('POST', signals, { name: 'nobody' }),
    await refused('POST', signals, { name: 'hello', payload: { n: 'one' } }),
  ];
  await stage.ask('POST', signals, { name: 'hello', payload: { n: 1 } });
  const { proposalHash } = asked.decision;
  const place = `/api/approvals/${asked.approvalId}/resolve`;
  resolved = await read(wireDecision, 'POST', place, { status: 'approved', proposalHash });
  await clients.plan.first('run', ({ summary }) => summary.status === 'completed');

  const turns = { file: stage.turnsPlan, directory };
  runs.turns = (await read(runSummary, 'POST', '/api/runs', turns, 201)).id;
  clients.turns = await watch(runs.turns);
  await clients.turns.first('run', ({ summary }) => summary.status === 'completed');

  runs.storm = (await read(runSummary, 'POST', '/api/runs', { file: stormPlan }, 201)).id;
  clients.storm = await watch(runs.storm);
  await until(async () => ((await shown(runs.storm)).record.status === 'stalled' ? true : undefined));

  // Confirmations are not asked: what is waited for is what the agent needs.
  const preferences = { autonomy: 'full_auto_stop_on_user_deps' } as const;
  const first = await tools.start({ workflowId: 'wr.bug-investigation', preferences }, 'person');
  if (!first.ok) throw new Error(first.error.message);
  runs.guided = first.value.runId;
  clients.guided = await watch(runs.guided);
  const { stateToken, ackToken = '' } = first.value;
  const needs = [{ reason: 'needs_user_environment_action', summary: 'Restart it, please.' }];
  const step = async (output: object) =>
    tools.continue({ stateToken, ackToken, output: { notesMarkdown: NOTES, ...output } } as Parameters<
      typeof tools.continue
    >[0]);
  await step({ needsFromUser: needs });
  const gap = await until(() => waiting(runs.guided));
  await read(wireDecision, 'POST', `/api/approvals/${gap.approvalId}/resolve`, { status: 'approved' });
  const again = await tools.continue({ stateToken } as Parameters<typeof tools.continue>[0]);
  if (!again.ok) throw new Error(again.error.message);
  for (let last = again.value; !last.isComplete; ) {
    const next = await tools.continue(filledIn(last));
    if (!next.ok || next.value.kind === 'blocked') throw new Error(JSON.stringify(next));
    last = next.value;
  }
  for (const [name, id] of Object.entries(runs)) {
    const { record } = await shown(id);
    await clients[name]?.until(received => received.filter(({ kind }) => kind === 'event').length === record.nextSeq);
  }
  // Agent output and artifacts of turns are sent after the events and the snapshot of the end.
  for (const name of ['plan', 'turns'] as const) {
    const made = Object.values((await shown(runs[name])).artifacts).filter(one => one.name.startsWith('prompt.'));
    await clients[name]?.until(() => made.every(({ id }) => createdIn(name).some(told => told.artifact.id === id)));
  }
  await clients.plan.until(() => wordsOf(said()).endsWith('It is written.'));
});
afterAll(async () => {
  for (const client of Object.values(clients)) client.close();
  await stage.close();
});

/** The contract's fields of a snapshot. */
function contractPart(snapshot: RunSnapshot): object {
  const fields = Object.keys(contractRun.shape);
  return Object.fromEntries(Object.entries(snapshot).filter(([name]) => fields.includes(name)));
}

/** The checks of each endpoint. An endpoint of the contract without an entry fails the test of the table. */
const endpoints: { readonly [Endpoint in (typeof ENDPOINTS)[number]]: () => Promise<void> } = {
  'POST /api/runs': async () => {
    const file = stage.stormPlan;
    const made = await read(runSummary, 'POST', '/api/runs', { file, name: 'again' }, 201);
    expect(made).toMatchObject({ contractVersion: CONTRACT_VERSION, mode: 'AUTO', record: { name: 'again' } });
    expect(await refused('POST', '/api/runs', {})).toEqual([400, 'VALIDATION_ERROR']);
    expect(await refused('POST', '/api/runs', { file, more: 1 })).toEqual([400, 'VALIDATION_ERROR']);
    expect(await refused('POST', '/api/runs', { file }, { 'content-type': 'text/plain' })).toEqual([
      415,
      'request/not-json',
    ]);
    expect((await refused('POST', '/api/runs', { file: `${file}.none` }))[0]).toBe(422);
  },
  'GET /api/runs': async () => {
    const { runs: listed } = await read(runList, 'GET', '/api/runs');
    expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining(Object.values(runs)));
    const parts = contractRun.omit({ nodes: true, edges: true, artifacts: true });
    for (const { kind: _, guided: _1, record: _2, driven: _3, openDecisions: _4, ...summary } of listed) {
      expect(parts.parse(summary)).toEqual(summary);
    }
    expect(listed.map(({ createdAt }) => createdAt)).toEqual(
      listed
        .map(({ createdAt }) => createdAt)
        .toSorted()
        .toReversed(),
    );
    expect(await refused('GET', '/api/runs?status=done')).toEqual([400, 'VALIDATION_ERROR']);
    expect(await refused('GET', '/api/runs?after=nowhere')).toEqual([400, 'VALIDATION_ERROR']);
  },
  'GET /api/runs/:id': async () => {
    const statuses: Record<string, string> = {
      plan: 'completed',
      turns: 'completed',
      storm: 'paused',
      guided: 'completed',
    };
    for (const [name, id] of Object.entries(runs)) {
      const snapshot = await read(runSnapshot, 'GET', `/api/runs/${id}`);
      const part = contractPart(snapshot);
      expect(contractRun.parse(part)).toEqual(part);
      expect([name, snapshot.status]).toEqual([name, statuses[name]]);
      for (const edge of Object.values(snapshot.edges)) {
        expect(snapshot.nodes).toHaveProperty([edge.from]);
        expect(snapshot.nodes).toHaveProperty([edge.to]);
      }
      for (const artifact of Object.values(snapshot.artifacts)) {
        expect(snapshot.nodes).toHaveProperty([artifact.nodeId]);
      }
    }
    const { nodes, artifacts } = await read(runSnapshot, 'GET', `/api/runs/${runs.plan}`);
    expect(Object.values(nodes)).toMatchObject([{ roleTemplate: 'agent', provider: 'custom', status: 'idle' }]);
    // A completed turn in files of its own has its diff.
    expect(Object.values(artifacts).filter(({ kind }) => kind === 'diff')).toMatchObject([
      { name: 'diff.patch', diff: { filesChanged: ['a.txt'] } },
    ]);
    expect(await refused('GET', `/api/runs/${UNKNOWN}`)).toEqual([404, 'run/unknown']);
    expect(await refused('GET', '/api/runs/..%2f')).toEqual([404, 'run/unknown']);
  },
  'GET /api/runs/:id/events': async () => {
    for (const [name, id] of Object.entries(runs)) {
      const { record } = await read(runSnapshot, 'GET', `/api/runs/${id}`);
      const { events } = await read(eventList, 'GET', `/api/runs/${id}/events?limit=1000`);
      expect(events.map(({ event }) => runEvent.parse(event).seq)).toEqual(
        Array.from({ length: record.nextSeq }, (_, seq) => seq),
      );
      expect(new Set(events.map(({ event }) => event.runId))).toEqual(new Set([id]));
      const times = events.map(({ event }) => event.ts);
      // The order is that of commits. What the thread of a plan and the agents beside it do at once may be committed the other way round.
      const isOfOne = name === 'storm' || name === 'guided';
      expect(isOfOne ? times : times[0]).toEqual(isOfOne ? times.toSorted() : times.toSorted()[0]);
    }
    expect(await refused('GET', `/api/runs/${UNKNOWN}/events`)).toEqual([404, 'run/unknown']);
    expect(await refused('GET', `/api/runs/${runs.plan}/events?from=-1`)).toEqual([400, 'VALIDATION_ERROR']);
    expect(await refused('GET', `/api/runs/${runs.plan}/events?view=raw`)).toEqual([400, 'VALIDATION_ERROR']);
  },
  'POST /api/runs/:id/nodes': () => onlyGraphs('POST', '/nodes'),
  'PATCH /api/runs/:id/nodes/:nodeId': () => onlyGraphs('PATCH', `/nodes/${UNKNOWN}`),
  'POST /api/runs/:id/edges': () => onlyGraphs('POST', '/edges'),
  'DELETE /api/runs/:id/edges/:edgeId': () => onlyGraphs('DELETE', `/edges/${UNKNOWN}`),
  'POST /api/runs/:id/chat': async () => {
    const body = { node: 'nobody', text: 'Look again.' };
    expect(await refused('POST', `/api/runs/${runs.plan}/chat`, body)).toEqual([409, 'run/no-effect']);
    expect(await refused('POST', `/api/runs/${runs.guided}/chat`, body)).toEqual([409, 'run/not-a-graph']);
    expect(await refused('POST', `/api/runs/${UNKNOWN}/chat`, body)).toEqual([404, 'run/unknown']);
  },
  'GET /api/approvals': async () => {
    const { approvals } = await read(decisionList, 'GET', '/api/approvals?status=all');
    expect(approvals.map(({ runId }) => runId)).toEqual(expect.arrayContaining([runs.plan, runs.guided]));
    const times = approvals.map(({ decision }) => decision.askedAt);
    expect(times).toEqual(times.toSorted());
    expect((await read(decisionList, 'GET', '/api/approvals')).approvals).toEqual([]);
    expect(await refused('GET', '/api/approvals?run=x')).toEqual([400, 'VALIDATION_ERROR']);
    expect(await refused('GET', '/api/approvals?after=x')).toEqual([400, 'VALIDATION_ERROR']);
  },
  'POST /api/approvals/:id/resolve': async () => {
    expect(asked).toMatchObject({ tool: { name: 'write_file', args: { path: 'a.txt' } }, nodeId: expect.any(String) });
    expect(resolved.resolution).toEqual({ status: 'approved' });
    const place = `/api/approvals/${asked.approvalId}/resolve`;
    expect(await refused('POST', place, { status: 'denied' })).toEqual([409, 'decision/answered']);
    expect(await refused('POST', place, { status: 'maybe' })).toEqual([400, 'VALIDATION_ERROR']);
    expect(await refused('POST', `/api/approvals/${UNKNOWN}/resolve`, { status: 'approved' })).toEqual([
      404,
      'decision/unknown',
    ]);
  },
};

/** Nodes, edges and messages are laid out by a plan or a workflow: design R20 rules otherwise than the contract. */
async function onlyGraphs(method: string, rest: string): Promise<void> {
  for (const run of [runs.plan, runs.guided]) {
    const body = method === 'DELETE' ? undefined : {};
    expect(await refused(method, `/api/runs/${run}${rest}`, body)).toEqual([409, 'run/not-a-graph']);
    expect(await refused(method, `/api/runs/${UNKNOWN}${rest}`, body)).toEqual([404, 'run/unknown']);
  }
}

const contentOf = async (id: string) => {
  const answer = await stage.ask('GET', `/api/artifacts/${id}/content`);
  expect([answer.status, answer.headers.get('x-content-type-options')]).toEqual([200, 'nosniff']);
  return answer.text();
};

/** "Artifacts (non-negotiable)" and "Prompt artifacts (required)" of the contract. */
const TURN_ARTIFACTS = {
  'prompt.full.txt (full effective prompt)': async () => {
    const [writes, looks] = await turnArtifacts('prompt.full.txt');
    const text = await contentOf(writes.id);
    const told = stage.heard.find(({ prompt }) => prompt.includes('Write it.'));
    for (const part of [told?.system, told?.prompt]) expect(text).toContain(String(part));
    expect(text).toContain('You write.');
    expect(await contentOf(looks.id)).not.toContain('You write.');
    const { digest, mimeType } = writes;
    const tag = { 'if-none-match': `"${digest}"` };
    const place = `/api/artifacts/${writes.id}/content`;
    expect((await stage.ask('GET', place, undefined, tag)).status).toBe(304);
    const part = await stage.ask('GET', place, undefined, { range: 'bytes=0-7' });
    expect([part.status, await part.text(), mimeType]).toEqual([206, '[system]', 'text/plain']);
  },
  'prompt.blocks.json (system/role/mode/task/override split)': async () => {
    const [writes, looks] = await turnArtifacts('prompt.blocks.json');
    const blocks = JSON.parse(await contentOf(writes.id));
    expect(Object.keys(blocks)).toEqual(['system', 'role', 'mode', 'task', 'override']);
    expect(blocks).toMatchObject({
      role: 'You write.',
      mode: {
        permissions: 'skip',
        maxTurns: 6,
        schema: null,
        tools: expect.arrayContaining(['write_file', 'artifact']),
      },
      task: 'Write it.',
      override: [],
    });
    expect(`${blocks.system}\n\n${blocks.role}`).toBe(
      stage.heard.find(({ prompt }) => prompt.includes('Write it.'))?.system,
    );
    expect(JSON.parse(await contentOf(looks.id))).toMatchObject({ role: null, task: 'Only look.' });
  },
  'Every completed turn must emit a diff artifact (empty or "no changes" allowed)': async () => {
    const [writes, looks] = await turnArtifacts('diff.patch');
    expect(writes.diff).toEqual({ filesChanged: ['a.txt'], summary: '1 file changed' });
    expect(await contentOf(writes.id)).toMatch(/^diff --git a\/a\.txt b\/a\.txt\n(.*\n)*\+a\n/);
    expect(looks.diff).toEqual({ filesChanged: [], summary: 'no changes' });
    expect(await contentOf(looks.id)).toBe('');
    const told = createdOf(storedIn('turns')).map(({ artifact }) => artifact.id);
    expect(told.toSorted()).toEqual([writes.id, looks.id].toSorted());
  },
} as const;

/** The same artifact of both agents: in the run's state, told when the turn ended, listed and found by its id. */
async function turnArtifacts(name: string): Promise<readonly [WireArtifact, WireArtifact]> {
  const { nodes, artifacts } = await shown(runs.turns);
  const place = `/api/artifacts?run=${runs.turns}&turns=only`;
  const [writes, looks] = await Promise.all(
    ['writes', 'looks'].map(async node => {
      const { artifacts: listed } = await read(artifactList, 'GET', `${place}&node=${node}`);
      const found = listed.find(one => one.name === name);
      if (found === undefined) throw new Error(`${node} has no ${name}`);
      expect(await read(wireArtifact, 'GET', `/api/artifacts/${found.id}`)).toEqual(found);
      const { id, run: runId, nodeId, kind, createdAt } = found;
      const state = { id, runId, nodeId, kind, name, path: `artifact://${id}`, createdAt };
      expect(artifacts).toHaveProperty([id], state);
      expect(nodes).toHaveProperty([String(nodeId)]);
      expect(createdIn('turns').filter(event => event.artifact.id === id)).toMatchObject([{ artifact: state, nodeId }]);
      return found;
    }),
  );
  if (writes === undefined || looks === undefined) throw new Error('two agents were expected');
  return [writes, looks];
}

const createdOf = (events: readonly object[]) => events.flatMap(event => createdEvent.safeParse(event).data ?? []);
const createdEvent = z.object({ type: z.literal('artifact.created'), nodeId, artifact });

const storedIn = (name: string) =>
  (clients[name]?.received ?? []).flatMap(message => (message.kind === 'event' ? [message.stored.event] : []));
const saidIn = (name: string): readonly SaidEvent[] =>
  (clients[name]?.received ?? []).flatMap(message => (message.kind === 'said' ? [message.event] : []));
const said = () => saidIn('plan');
const textOfEvent = (message: ServerMessage) => (message.kind === 'event' ? [JSON.stringify(message.stored)] : []);
const toldIn = (name: string) => (clients[name]?.received ?? []).flatMap(textOfEvent);
const createdIn = (name: string) => [...createdOf(storedIn(name)), ...createdOf(saidIn(name))];
const wordsOf = (events: readonly SaidEvent[]) =>
  events.flatMap(event => (event.type === 'message.assistant.delta' ? [event.delta] : [])).join('');

describe('the contract', () => {
  it('[V152] refuses signals that the plan does not accept', () => {
    expect(unheard).toEqual([
      [404, 'run/signal-unknown'],
      [422, 'run/signal-invalid'],
    ]);
  });

  it('[V151] names the plan version of every frame', async () => {
    const { frames } = await read(frameList, 'GET', `/api/runs/${runs.plan}/frames`);
    expect(new Set(frames.map(({ planVersion }) => planVersion))).toEqual(new Set([1]));
  });

  it('[V131] has every endpoint and event checked here', () => {
    expect(Object.keys(endpoints).toSorted()).toEqual([...ENDPOINTS].toSorted());
    expect(Object.keys(heardIn).toSorted()).toEqual([...EVENTS].toSorted());
    expect(runEvent.options.map(option => option.shape.type.value).toSorted()).toEqual([...EVENTS].toSorted());
  });

  it.each(ENDPOINTS)('[V131] %s', async endpoint => {
    await endpoints[endpoint]();
    const [method = '', place = ''] = endpoint.split(' ');
    const known = place.replace(':id', runs.plan).replace(/:\w+/, UNKNOWN);
    const answer = await fetch(`${stage.url}${known}`, { method });
    expect([answer.status, errorEnvelope.parse(await answer.json()).code]).toEqual([401, 'request/unauthorized']);
  });

  it('[V129] every event of a watched run is the contract’s, in order and without a gap', () => {
    for (const name of Object.keys(runs)) {
      const events = storedIn(name);
      expect(events.map(event => runEvent.parse(event).seq)).toEqual(events.map((_, seq) => seq));
      expect(events.length).toBeGreaterThan(5);
    }
    for (const { received } of Object.values(clients)) for (const message of received) serverMessage.parse(message);
    for (const event of said()) expect(saidEvent.parse(event)).toEqual(event);
  });

  it.each(EVENTS)('[V131] %s is heard where it happens', type => {
    const places = heardIn[type as RunEventType];
    const heard = [...Object.keys(runs), 'said'].filter(name =>
      (name === 'said' ? said() : storedIn(name)).some(event => event.type === type),
    );
    if (places === 'only graphs') expect(heard).toEqual([]);
    else expect(heard).toEqual(expect.arrayContaining([...places]));
  });

  it.each(Object.entries(TURN_ARTIFACTS))('[V140] %s', (_, check) => check());

  it('[V141] [V300] derived artifacts are listed beside stored ones, alone or not at all, in pages', async () => {
    const names = async (query: string) => {
      const list = await read(artifactList, 'GET', `/api/artifacts?run=${runs.plan}${query}`);
      return list.artifacts.map(({ name, derived = false }) => [name, derived]).toSorted();
    };
    expect(await names('&turns=none')).toEqual([['diff.patch', false]]);
    const prompts = [
      ['prompt.blocks.json', true],
      ['prompt.full.txt', true],
    ];
    expect(await names('')).toEqual([['diff.patch', false], ...prompts]);
    expect(await names('&turns=with')).toEqual(await names(''));
    expect(await names('&turns=only')).toEqual(prompts);
    expect(await names('&turns=none&node=agent')).toEqual([['diff.patch', false]]);
    const { artifacts } = await read(runSnapshot, 'GET', `/api/runs/${runs.turns}`);
    const listed = await read(artifactList, 'GET', `/api/artifacts?run=${runs.turns}&versions=all`);
    expect(listed.artifacts.map(({ id }) => id as string).toSorted()).toEqual(Object.keys(artifacts).toSorted());
    expect(await names('&turns=with&node=nobody')).toEqual([]);
    const looks = await read(artifactList, 'GET', `/api/artifacts?run=${runs.turns}&turns=only&node=looks`);
    const task = String(looks.artifacts[0]?.task);
    const ofTask = await read(
      artifactList,
      'GET',
      `/api/artifacts?run=${runs.turns}&turns=with&task=${task}&kind=diff`,
    );
    expect(ofTask.artifacts).toMatchObject([{ node: 'looks', name: 'diff.patch', task }]);
    const whole = await read(artifactList, 'GET', `/api/artifacts?run=${runs.turns}&turns=only`);
    const ids: string[] = [];
    for (let after = ''; ; ) {
      const page = await read(artifactList, 'GET', `/api/artifacts?run=${runs.turns}&turns=only&limit=1${after}`);
      ids.push(...page.artifacts.map(({ id }) => id));
      if (page.next === undefined) break;
      after = `&after=${page.next}`;
    }
    expect([ids.length, ids]).toEqual([6, whole.artifacts.map(({ id }) => id)]);
    expect(await refused('GET', '/api/artifacts?turns=only')).toEqual([400, 'VALIDATION_ERROR']);
    expect(await refused('GET', `/api/artifacts?run=${runs.turns}&turns=all`)).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('[V129] events mention only nodes that the state has, and the history is what was watched', async () => {
    for (const [name, id] of Object.entries(runs)) {
      const { nodes } = await read(runSnapshot, 'GET', `/api/runs/${id}`);
      const events = storedIn(name);
      for (const { nodeId } of events) if (nodeId !== undefined) expect(nodes).toHaveProperty([String(nodeId)]);
      const { events: read0 } = await read(eventList, 'GET', `/api/runs/${id}/events?limit=1000`);
      expect(read0.map(({ event }) => event)).toEqual(events);
    }
  });

  it('[A585] each event is sent once, with the same bytes from any event on and in the history', async () => {
    for (const [name, id] of Object.entries(runs)) {
      const live = toldIn(name);
      const history = await stage.ask('GET', `/api/runs/${id}/events?limit=1000`);
      const texts = z.object({ events: z.array(z.unknown()) }).parse(await history.json()).events;
      expect(texts.map(text => JSON.stringify(text))).toEqual(live);
      for (const from of [0, 1, Math.floor(live.length / 2), live.length - 1]) {
        const client = await liveClient(stage.url, { token: TOKEN });
        client.say({ kind: 'subscribe', run: id, from });
        await client.until(received => received.filter(({ kind }) => kind === 'event').length === live.length - from);
        expect(client.received.flatMap(textOfEvent)).toEqual(live.slice(from));
        client.close();
      }
    }
  });

  it('[A585] one call and one model answer are one event each', () => {
    for (const name of ['plan', 'turns']) {
      const types = storedIn(name).map(({ type }) => type);
      const count = (type: string) => types.filter(one => one === type).length;
      expect(['tool.proposed', 'tool.started', 'tool.completed'].map(count)).toEqual([1, 1, 1]);
      expect(count('message.assistant.final')).toBe(name === 'plan' ? 2 : 3);
      const beside = new Set<string>(saidIn(name).map(({ type }) => type));
      expect([...beside].filter(type => type.startsWith('tool.') || type.endsWith('.final'))).toEqual([]);
    }
  });

  it('[A584] deltas come in their place: after the preceding event, and before their message', () => {
    let last = -1;
    const open = new Map<unknown, string>();
    for (const message of clients.plan?.received ?? []) {
      if (message.kind === 'event') {
        const event = runEvent.parse(message.stored.event);
        expect(event.seq).toBe(last + 1);
        last = event.seq;
        if (event.type !== 'message.assistant.final') continue;
        expect(open.get(event.message.id)).toBe(event.message.content);
        open.delete(event.message.id);
      } else if (message.kind === 'said' && message.event.type === 'message.assistant.delta') {
        const { messageId, delta, after } = message.event;
        expect(after).toBe(last);
        open.set(messageId, `${open.get(messageId) ?? ''}${delta}`);
      }
    }
    expect([...open]).toEqual([]);
  });

  it('[V129] sends agent output as it comes, and how its tools end', () => {
    expect(wordsOf(said())).toContain('It is written.');
    const events = storedIn('plan').map(event => runEvent.parse(event));
    const ids = events.flatMap(event =>
      event.type === 'tool.proposed' ? [event.tool.id] : 'toolId' in event ? [event.toolId] : [],
    );
    expect([ids.length, new Set(ids).size]).toEqual([3, 1]);
    expect(events.find(({ type }) => type === 'tool.proposed')).toMatchObject({
      tool: { name: 'write_file', args: { path: 'a.txt', content: 'a' } },
    });
    expect(events.find(({ type }) => type === 'tool.completed')).toMatchObject({ result: { ok: true } });
  });
});
