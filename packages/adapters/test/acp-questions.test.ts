import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decisionRequest, type TurnSurface, type TurnTools } from '@signalbox/runs';
import type { EchoStep } from '@signalbox/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openAcpLife } from './acp-life.ts';
import { createMemoryTask, entriesOf } from './memory-session.ts';

const options = [
  { id: 'a', label: 'Keep it' },
  { id: 'b', label: 'Drop it' },
];
const ask = (question: string, more: object = { options }): EchoStep => ({
  ...{ do: 'callTool', name: 'request_decision', input: { question, ...more } },
});
const repeat: EchoStep = { do: 'repeat' };

/** The tools of turns over bare HTTP, and which offers stand. */
async function bareSurface(): Promise<TurnSurface & { readonly standing: Set<string> }> {
  const offered = new Map<string, TurnTools>();
  const standing = new Set<string>();
  const listed = new Set<string>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method, params } = JSON.parse(body);
    const token = request.headers.authorization ?? '';
    if (method === 'tools/list') {
      listed.add(token);
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools: [{ name: 'request_decision' }] } }));
      return;
    }
    const { arguments: input } = params;
    const tools = offered.get(token);
    const reply = await tools?.requestDecision(decisionRequest.parse(input));
    const text = reply?.kind === 'answered' ? `${reply.answer}. ${reply.rationale}` : (reply?.kind ?? 'refused');
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }] } }));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    standing,
    async offer(tools) {
      const token = `token-${offered.size}`;
      offered.set(`Bearer ${token}`, tools);
      standing.add(token);
      return {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp/turn`,
        token,
        wasListed: () => listed.has(`Bearer ${token}`),
        async withdraw() {
          standing.delete(token);
        },
      };
    },
  };
}

describe('an agent that asks a person', () => {
  it('[B70] gets the answer as the result of its call', async () => {
    const turns = await bareSurface();
    const life = openAcpLife({ ports: { turns } });
    const task = createMemoryTask();
    task.answerAll({ resolutionType: 'choose_option', chosenOptionId: 'b', rationale: 'It is old.' });
    const outcome = await life.run(task.session(), [ask('Keep the file?')]);
    expect(outcome).toEqual({ kind: 'done', output: 'b (Drop it). It is old.' });
    expect([...task.questions.values()].map(({ kind, proposal }) => ({ kind, proposal }))).toEqual([
      {
        kind: 'choice',
        proposal: { prompt: 'Keep the file?', options, context: { agent: { id: 'echo', title: 'Echo' } } },
      },
    ]);
    expect([...turns.standing]).toEqual([]);
  });

  it('[B70] is told to stop, and gets the answer as its next prompt', async () => {
    const life = openAcpLife({ ports: { turns: await bareSurface() } });
    const task = createMemoryTask();
    const running = life.run(task.session(), [[ask('Keep the file?', {})], [repeat]]);
    const first = await task.asked(1);
    // The tool waits no longer; the person has not answered yet.
    task.park();
    const again = await task.asked(1);
    expect(again).toEqual(first);
    task.answerAll({ resolutionType: 'approve', rationale: 'Please.' });
    const outcome = await running;
    expect(outcome.kind).toBe('done');
    expect(entriesOf<{ text: string }>(task, 'prompted').map(({ text }) => text)[1]).toContain(
      'You asked: Keep the file?\nThe person answered: yes\nPlease.',
    );
    expect(task.questions.size).toBe(1);
  });

  it('[B70] waits without a process, and gets the answer when it asks the same again', async () => {
    const life = openAcpLife({ ports: { turns: await bareSurface() } });
    const task = createMemoryTask();
    const steps = [[ask('Keep the file?')]];
    const running = life.run(task.session(), steps);
    const { call } = await task.asked(1);
    task.park();
    await task.asked(1);
    task.park();
    expect(await running).toEqual({ kind: 'blocked', reason: 'approval_required:choice' });
    expect(life.isAnyAlive()).toBe(false);
    task.answerAll({ resolutionType: 'choose_option', chosenOptionId: 'a' });
    const outcome = await life.run(task.session(), steps);
    expect(outcome).toEqual({ kind: 'done', output: expect.stringContaining('a (Keep it)') });
    expect([...task.questions.keys()]).toEqual([call]);
  });

  it('[B70] needs no permission to ask, and one for a tool that only sounds alike', async () => {
    const life = openAcpLife({ ports: { turns: await bareSurface() } });
    const task = createMemoryTask();
    task.answerAll({ resolutionType: 'reject' });
    const permission = (id: string, kind: string, name: string): EchoStep => ({
      ...{ do: 'ask', id, kind, title: name, name, input: {} },
      allowed: [{ do: 'say', text: `${id} allowed. ` }],
      denied: [{ do: 'say', text: `${id} denied. ` }],
    });
    await life.run(task.session(), [
      permission('1', 'other', 'mcp__signalbox__request_decision'),
      permission('2', 'execute', 'request_decision'),
      permission('3', 'other', 'request_decision_now'),
    ]);
    const said = task.streamed.flatMap(({ kind, payload }) => (kind === 'token' ? [payload] : []));
    expect(said.join('')).toBe('1 allowed. 2 denied. 3 denied. ');
  });

  it('[B52] [B70] may change nothing because it was allowed to ask', async () => {
    const life = openAcpLife({ isOnLayer: true, ports: { turns: await bareSurface() } });
    const task = createMemoryTask();
    const outcome = await life.run(task.session(), [
      {
        ...{ do: 'ask', id: '1', kind: 'other', title: 'Ask', name: 'mcp__signalbox__request_decision', input: {} },
        allowed: [{ do: 'write', file: 'made.txt', text: 'x' }],
      },
    ]);
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'agent-violation' } });
  });

  it('[B151] is named in the log, once, if it never asks for the tools of its turn', async () => {
    const notes = (task: ReturnType<typeof createMemoryTask>) =>
      entriesOf<{ text: string }>(task, 'note').map(({ text }) => text);
    const [listing, blind] = [createMemoryTask(), createMemoryTask()];
    const row = { offering: 'It takes them by a flag.' };
    const turns = await bareSurface();
    await openAcpLife({ row, ports: { turns } }).run(listing.session(), [repeat]);
    expect(notes(listing)).toEqual([]);
    const life = openAcpLife({ row, ports: { turns }, setup: { listsNoTools: true } });
    blind.answerAll({ resolutionType: 'approve' });
    await life.run(blind.session(), [[ask('Keep the file?', {})], [repeat]]);
    expect(notes(blind)).toEqual([
      'Echo was offered request_decision, but did not ask for the tools of its turn: its model cannot ask a person. It takes them by a flag.',
    ]);
  });

  it('[B70] is not offered the tool if it cannot connect to it', async () => {
    const turns = await bareSurface();
    const life = openAcpLife({ ports: { turns }, setup: { noMcp: true } });
    const task = createMemoryTask();
    const outcome = await life.run(task.session(), [ask('Keep the file?')]);
    expect(outcome).toEqual({ kind: 'done', output: 'no tools were offered' });
  });
});
