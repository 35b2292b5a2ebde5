import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { openGuidedSessions, openGuidedTools, type StepAnswer } from '@signalbox/app/guided';
import { thisMachine } from '@signalbox/app/host';
import {
  artifactList,
  run as contractRun,
  decisionList,
  eventList,
  type Json,
  runEvent,
  runList,
  runSnapshot,
  serverMessage,
  wireArtifact,
  wireDecision,
} from '@signalbox/model';
import { startServer } from '@signalbox/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filledIn, NOTES } from '../../guided/test/support/agent-calls.ts';
import { auth, code, TOKEN, UNKNOWN } from './http-asker.ts';
import { keepArtifact } from './keep-artifact.ts';
import { liveClient } from './live-client.ts';
import { type ManualTimers, manualTimers } from './manual-timers.ts';
import { type ScriptedHost, scriptedHost } from './scripted-host.ts';

const dataDirectory = mkdtempSync(path.join(tmpdir(), 'guided-runs-'));
const options = { dataDirectory, directories: [], machine: thisMachine() };
const preferences = { autonomy: 'full_auto_stop_on_user_deps', riskPolicy: 'conservative' } as const;
const tools = openGuidedTools({ ...options, preferences });
const sessions = openGuidedSessions(options);
const host: ScriptedHost = scriptedHost();
const manual: ManualTimers = manualTimers();
let url: string;
let end: () => Promise<void>;
beforeAll(async () => {
  const started = await startServer({ host, sessions, token: TOKEN, port: 0, timers: manual.timers });
  if (!started.ok) throw new Error(started.error.message);
  ({ url } = started.value);
  end = started.value.close;
});
afterAll(async () => {
  await end();
  rmSync(dataDirectory, { recursive: true });
});

const ask = (method: string, place: string, body?: Json) =>
  fetch(`${url}${place}`, {
    method,
    headers: { authorization: auth.authorization, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const read = async (place: string): Promise<unknown> => (await ask('GET', place)).json();
const value = <T>(result: { ok: true; value: T } | { ok: false; error: { message: string } }): T => {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
};
const start = async () => value(await tools.start({ workflowId: 'wr.bug-investigation' }));
/** The agent asks for what only the person can give. */
async function asking(from: StepAnswer, reason: string, summary: string): Promise<StepAnswer> {
  const { stateToken, ackToken = '' } = from;
  const output = { notesMarkdown: NOTES, needsFromUser: [{ reason, summary }] };
  return value(await tools.continue({ stateToken, ackToken, output } as Parameters<typeof tools.continue>[0]));
}
const queue = async (query = '') => decisionList.parse(await read(`/api/approvals${query}`)).approvals;

describe('guided runs', () => {
  it('[V123] are listed with those of plans, newest first, by kind and by every filter, in pages', async () => {
    const plan = await host.begin('release');
    const first = await start();
    const second = await start();
    const listed = runList.parse(await read('/api/runs'));
    expect(listed.runs.map(({ id, kind }) => [id, kind])).toEqual([
      [second.runId, 'guided'],
      [first.runId, 'guided'],
      [plan.id, 'plan'],
    ]);
    expect(listed.runs[0]).toMatchObject({
      status: 'running',
      mode: 'INTERACTIVE',
      phase: 'EXECUTE',
      guided: { sessionId: second.sessionId, status: 'in_progress', workflowId: 'wr.bug-investigation' },
      record: { driver: 'workflow', status: 'running', entry: 'wr.bug-investigation' },
      driven: false,
    });
    const found = async (query: string) => runList.parse(await read(`/api/runs${query}`)).runs.map(({ id }) => id);
    expect(await found('?kind=plan')).toEqual([plan.id]);
    expect(await found('?kind=guided')).toEqual([second.runId, first.runId]);
    expect(await found('?entry=wr.bug-investigation&limit=1')).toEqual([second.runId]);
    expect(await found('?status=completed')).toEqual([]);
    expect(await found('?tag=none')).toEqual([]);
    expect(await found(`?name=${encodeURIComponent(listed.runs[0]?.record.name ?? '')}`)).toHaveLength(2);
    expect(await found(`?until=${listed.runs[1]?.createdAt}`)).toEqual([plan.id]);
    const walked: string[] = [];
    for (let after = ''; ; ) {
      const page = runList.parse(await read(`/api/runs?limit=1${after}`));
      walked.push(...page.runs.map(({ id }) => id));
      if (page.next === undefined) break;
      after = `&after=${encodeURIComponent(page.next)}`;
    }
    expect(walked).toEqual(listed.runs.map(({ id }) => id));
    for (const bad of ['x', UNKNOWN, `${UNKNOWN}~`, '~then', '~~']) {
      expect(await code(ask('GET', `/api/runs?after=${bad}`))).toEqual([400, 'VALIDATION_ERROR']);
    }
  });

  it('[V124] have the contract’s form: every reached step is a node, every way between two an edge', async () => {
    const started = await start();
    const second = value(await tools.continue(filledIn(started)));
    const snapshot = runSnapshot.parse(await read(`/api/runs/${started.runId}`));
    const { record, kind, guided, driven, openDecisions, input, output, tree, decisions, tasks, ...contract } =
      snapshot;
    expect(contractRun.parse(contract)).toEqual(contract);
    expect(Object.keys(contract.nodes).toSorted()).toEqual([started.nodeId, second.nodeId].toSorted());
    expect(contract.nodes[started.nodeId]).toMatchObject({ label: started.pending?.title, status: 'idle' });
    expect(contract.nodes[second.nodeId]).toMatchObject({ label: second.pending?.title, status: 'running' });
    expect(Object.values(contract.edges)).toMatchObject([{ from: started.nodeId, to: second.nodeId, type: 'handoff' }]);
    expect([driven, openDecisions, decisions, tasks, input, output]).toEqual([false, 0, [], [], {}, undefined]);
    expect(tree.map(({ kind: of, status }) => [of, status]).slice(0, 4)).toEqual([
      ['workflow', 'running'],
      ['step', 'succeeded'],
      ['step', 'running'],
      ['step', 'idle'],
    ]);
    expect([kind, guided?.pendingStep?.title, record.head]).toEqual(['guided', second.pending?.title, record.head]);
  });

  it('[V124] that ended are completed, with all their steps done', async () => {
    let last = await start();
    for (let step = 0; step < 60 && !last.isComplete; step += 1) last = value(await tools.continue(filledIn(last)));
    const snapshot = runSnapshot.parse(await read(`/api/runs/${last.runId}`));
    expect([snapshot.status, snapshot.phase, snapshot.record.status]).toEqual(['completed', 'DONE', 'completed']);
    expect(new Set(Object.values(snapshot.nodes).map(({ status }) => status))).toEqual(new Set(['idle']));
    const { events } = eventList.parse(await read(`/api/runs/${last.runId}/events?limit=1000`));
    expect(events.filter(({ event }) => event.type === 'run.phase').map(({ event }) => event.phase)).toEqual(['DONE']);
    const patches = events.flatMap(({ event }) => (event.type === 'run.patch' ? [event.patch] : []));
    expect(patches.at(-1)).toMatchObject({ status: 'completed' });
  });

  it('[V132] keep handed-in artifacts: found by id, listed with their run and among all, with unchanged content', async () => {
    let last = await start();
    for (let step = 0; step < 60 && !last.isComplete; step += 1) last = value(await tools.continue(filledIn(last)));
    const { artifacts } = runSnapshot.parse(await read(`/api/runs/${last.runId}`));
    const [one] = Object.values(artifacts);
    if (one === undefined) throw new Error('nothing was handed in');
    const listed = artifactList.parse(await read(`/api/artifacts?run=${last.runId}`));
    expect(listed.artifacts.map(({ id }) => id).toSorted()).toEqual(Object.keys(artifacts).toSorted());
    const kept = await keepArtifact(host, (await host.begin('a plan')).id, '# Notes');
    const whole = artifactList.parse(await read('/api/artifacts')).artifacts.map(({ id }) => id);
    expect(whole).toEqual(expect.arrayContaining([kept, ...Object.keys(artifacts)]));
    const byPages: string[] = [];
    for (let after = '', isMore = true; isMore; isMore = after !== '') {
      const { artifacts: some, next = '' } = artifactList.parse(await read(`/api/artifacts?limit=1${after}`));
      byPages.push(...some.map(({ id }) => id));
      after = next && `&after=${encodeURIComponent(next)}`;
    }
    expect(byPages).toEqual(whole);
    const found = wireArtifact.parse(await read(`/api/artifacts/${one.id}`));
    expect(found).toMatchObject({ ref: one.path, run: last.runId, nodeId: one.nodeId, kind: 'report' });
    const content = await ask('GET', `/api/artifacts/${one.id}/content`);
    expect(content.headers.get('content-type')).toContain('application/json');
    const bytes = await content.text();
    expect([Buffer.byteLength(bytes), JSON.parse(bytes)]).toMatchObject([found.bytes, { kind: expect.any(String) }]);
    expect(await code(ask('GET', `/api/artifacts/${UNKNOWN}/content`))).toEqual([404, 'artifact/unknown']);
    expect(await code(ask('GET', `/api/artifacts/${UNKNOWN}`))).toEqual([404, 'artifact/unknown']);
  });

  it('[V125] have events in the common envelope, numbered from 0, with the heads of their journal', async () => {
    const started = await start();
    await asking(started, 'needs_user_account_access', 'May I see the build server?');
    const all = eventList.parse(await read(`/api/runs/${started.runId}/events`));
    expect(all.events.map(({ event }) => runEvent.parse(event).seq)).toEqual(all.events.map((_, index) => index));
    expect(new Set(all.events.map(({ event }) => event.id)).size).toBe(all.events.length);
    expect(all.events.map(({ event }) => event.type)).toContain('approval.requested');
    const snapshot = runSnapshot.parse(await read(`/api/runs/${started.runId}`));
    expect([all.next, all.events.at(-1)?.hash]).toEqual([snapshot.record.nextSeq, snapshot.record.head]);
    const page = eventList.parse(await read(`/api/runs/${started.runId}/events?from=2&limit=2`));
    expect(page.events).toEqual(all.events.slice(2, 4));
    const stored = eventList.parse(await read(`/api/runs/${started.runId}/events?view=stored`));
    expect(stored.events.map(({ hash }) => hash)).toEqual(all.events.map(({ hash }) => hash));
    expect(stored.events.map(({ event }) => event.type).slice(0, 2)).toEqual(['session_created', 'run_started']);
    expect(await code(ask('GET', `/api/runs/${UNKNOWN}/events`))).toEqual([404, 'run/unknown']);
  });

  it('[V127] wait in the one queue, and are answered there once; both sides know', async () => {
    const started = await start();
    await asking(started, 'needs_user_account_access', 'Which branch?');
    const question = await host.run((await host.begin('asks')).id).ask('deploy', { prompt: 'Ship it?' }, 'human');
    const asked = (await queue('?kind=guided')).find(({ runId }) => runId === started.runId);
    if (asked === undefined) throw new Error('nothing waits');
    expect(asked).toMatchObject({
      kind: 'guided',
      sessionId: started.sessionId,
      nodeId: started.nodeId,
      context: expect.stringContaining('Which branch?'),
      decision: { kind: 'human', status: 'open' },
    });
    expect((await queue()).map(({ approvalId }) => approvalId)).toEqual(
      expect.arrayContaining([asked.approvalId, question.id]),
    );
    expect((await queue(`?run=${started.runId}`)).map(({ approvalId }) => approvalId)).toEqual([asked.approvalId]);
    const resolve = (body: Json) => ask('POST', `/api/approvals/${asked.approvalId}/resolve`, body);
    expect(await code(resolve({ status: 'shrug' }))).toEqual([400, 'VALIDATION_ERROR']);
    const stale = { status: 'approved', proposalHash: `sha256:${'0'.repeat(64)}` };
    expect(await code(resolve(stale))).toEqual([409, 'decision/stale-proposal']);
    const words = { value: { value: 'main' }, resolutionType: 'approve', rationale: '', actionKind: 'review' };
    const { proposalHash } = asked.decision;
    const answered = wireDecision.parse(await (await resolve({ resolution: words, proposalHash })).json());
    expect(answered).toMatchObject({
      resolution: { status: 'modified', modifiedArgs: { value: 'main' } },
      decision: { status: 'answered', resolution: { value: { value: 'main' } } },
    });
    expect(wireDecision.parse(await (await resolve({ status: 'denied' })).json())).toEqual(answered);
    const detail = (await read(`/api/sessions/${started.sessionId}`)) as { runs: { gaps: Json[] }[] };
    expect(detail.runs[0]?.gaps).toMatchObject([{ answer: { kind: 'answered', value: 'main' } }]);
    expect((await queue(`?run=${started.runId}`)).length).toBe(0);
    expect((await queue(`?run=${started.runId}&status=answered`)).length).toBe(1);
  });

  it('[V127] that need a yes accept one, or a no with its reason', async () => {
    for (const [body, answer] of [
      [
        { status: 'approved', rationale: 'go on' },
        { kind: 'approved', note: 'go on' },
      ],
      [
        { status: 'denied', rationale: 'not today' },
        { kind: 'denied', note: 'not today' },
      ],
    ] as const) {
      const started = await start();
      await asking(started, 'needs_user_environment_action', 'Restart the machine, please.');
      const [asked] = await queue(`?run=${started.runId}`);
      expect(asked?.decision.kind).toBe('confirmation');
      expect((await ask('POST', `/api/approvals/${asked?.approvalId}/resolve`, body)).status).toBe(200);
      const detail = (await read(`/api/sessions/${started.sessionId}`)) as { runs: { gaps: Json[] }[] };
      expect(detail.runs[0]?.gaps).toMatchObject([{ answer }]);
    }
  });

  it('[V144] are executions of the operator too: listed, read and answered over MCP as over HTTP', async () => {
    const started = await start();
    await asking(started, 'needs_user_environment_action', 'Restart the machine, please.');
    const client = new Client({ name: 'operator', version: '1' });
    const requestInit = { headers: { authorization: auth.authorization } };
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }));
    const resource = async (uri: string) => {
      const [content] = (await client.readResource({ uri: `signalbox://executions${uri}` })).contents;
      return JSON.parse(content !== undefined && 'text' in content ? content.text : '');
    };
    const over = runList.parse(await read('/api/runs')).runs.map(({ id }) => id);
    const walked: string[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const page = await resource(`?limit=3${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`);
      walked.push(...page.executions.map(({ id }: { id: string }) => id));
      after = page.next;
    }
    expect(walked).toEqual(over);
    expect((await resource('?kind=guided&limit=1')).executions).toMatchObject([
      { id: started.runId, kind: 'guided', session_id: started.sessionId, pending_step: started.pending?.title },
    ]);
    expect((await resource('?kind=plan')).executions.some(({ id }: { id: string }) => id === started.runId)).toBe(
      false,
    );
    await expect(resource('?after=x')).rejects.toThrow(/begin again/);

    const shown = runSnapshot.parse(await read(`/api/runs/${started.runId}`));
    const detail = await resource(`/${started.runId}`);
    expect(detail).toMatchObject({
      status: 'waiting',
      head: shown.record.head,
      total_frames: 0,
      plan_tree: shown.tree,
    });
    const { events } = await resource(`/${started.runId}/events?from=1&limit=2`);
    expect(events).toEqual(eventList.parse(await read(`/api/runs/${started.runId}/events?from=1&limit=2`)).events);
    await expect(resource(`/${started.runId}/frames`)).rejects.toThrow(/is guided/);

    const { approvals } = await resource(`/${started.runId}/approvals`);
    expect(approvals).toMatchObject([{ status: 'pending', execution_id: started.runId }]);
    const given = { execution_id: started.runId, approval_id: approvals[0].id, decision: 'approve', comment: 'done' };
    const answered = await client.callTool({ name: 'approval.respond', arguments: given });
    expect(answered.structuredContent).toMatchObject({ status: 'approved', comment: 'done' });
    expect(await resource(`/${started.runId}/approvals`)).toEqual({ approvals: [] });
    await client.close();
  });

  it.each([
    ['POST', '/pause', 'run/guided'],
    ['POST', '/resume', 'run/guided'],
    ['POST', '/stop', 'run/guided'],
    ['POST', '/fork', 'run/guided'],
    ['POST', '/nodes/a/retry', 'run/guided'],
    ['POST', '/signals', 'run/guided'],
    ['POST', '/keep', 'run/guided'],
    ['GET', '/bundle', 'run/guided'],
    ['GET', '/frames', 'run/guided'],
    ['GET', '/tasks', 'run/guided'],
    ['POST', '/nodes', 'run/not-a-graph'],
    ['PATCH', '/nodes/a', 'run/not-a-graph'],
    ['DELETE', '/edges/a', 'run/not-a-graph'],
    ['POST', '/chat', 'run/not-a-graph'],
  ])('[V128] answer %s %s with what to do instead', async (method, rest, expected) => {
    const { runId, sessionId } = await start();
    const answer = await ask(method, `/api/runs/${runId}${rest}`, method === 'GET' ? undefined : {});
    const refused = (await answer.json()) as { code: string; suggestion: string; details: Json };
    expect([answer.status, refused.code, refused.details]).toEqual([409, expected, { run: runId, sessionId }]);
    expect(refused.suggestion.length).toBeGreaterThan(20);
    expect(await code(ask(method, `/api/runs/${UNKNOWN}${rest}`, method === 'GET' ? undefined : {}))).toEqual([
      404,
      'run/unknown',
    ]);
  });

  it('[V126] are watched: the full state, each event once and in order, and from where an earlier watch ended', async () => {
    const started = await start();
    const client = await liveClient(url, { token: TOKEN });
    client.say({ kind: 'subscribe', run: started.runId });
    const state = await client.first('state');
    expect(runSnapshot.parse(state.snapshot).record.nextSeq).toBe(state.next);
    const second = value(await tools.continue(filledIn(started)));
    await asking(second, 'needs_user_account_access', 'May I?');
    const nextSeq = runSnapshot.parse(await read(`/api/runs/${started.runId}`)).record.nextSeq;
    const seqs = () => client.received.flatMap(message => (message.kind === 'event' ? [message.stored.event.seq] : []));
    manual.advance(1_000);
    await client.until(() => seqs().length === nextSeq - state.next);
    await client.first('run', ({ summary }) => summary.openDecisions === 1);
    expect(seqs()).toEqual(Array.from({ length: nextSeq - state.next }, (_, index) => state.next + index));
    for (const message of client.received) serverMessage.parse(message);
    const kinds = client.received.map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['nodes', 'decisions', 'run']));
    client.close();
    const again = await liveClient(url, { token: TOKEN });
    again.say({ kind: 'subscribe', run: started.runId, from: 1, view: 'stored' });
    await again.until(received => received.filter(({ kind }) => kind === 'event').length === nextSeq - 1);
    const [first] = again.received.flatMap(message => (message.kind === 'event' ? [message.stored.event] : []));
    expect([first?.seq, first?.type]).toEqual([1, 'run_started']);
    again.say({ kind: 'subscribe', run: UNKNOWN });
    expect((await again.first('refused')).error.code).toBe('run/unknown');
    again.close();
  });

  it('[V126] are among all watched runs, and are sent again when another process writes them', async () => {
    const client = await liveClient(url, { token: TOKEN });
    client.say({ kind: 'subscribe', run: 'all' });
    const { runs } = await client.first('runs');
    expect(runs.some(({ kind }) => kind === 'guided')).toBe(true);
    const started = value(await openGuidedTools(options).start({ workflowId: 'wr.research' }));
    manual.advance(1_000);
    const told = await client.first('run', ({ run }) => run === started.runId);
    expect(told.summary).toMatchObject({ kind: 'guided', guided: { sessionId: started.sessionId } });
    client.close();
  });
});
