import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type GuidedTools, guidedSchemas, type StepAnswer } from '@signalbox/app/guided';
import { thisMachine } from '@signalbox/app/host';
import { errorEnvelope, failure, ok } from '@signalbox/model';
import { createAgentMcp, mcpHttp, startServer } from '@signalbox/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { agentTools } from '../../src/mcp/tool-definitions.ts';
import { AGENT_TOKEN, TOKEN } from '../http-asker.ts';
import { memoryUsers } from '../memory-users.ts';
import { scriptedHost } from '../scripted-host.ts';
import { blocked, RUN, scriptedGuided } from './scripted-guided.ts';

const modern = '2026-07-28';
const handshake = '2025-11-25';

interface Stage {
  readonly url: URL;
  readonly faults: readonly unknown[];
  connect(version?: string, token?: string): Promise<Client>;
}

async function stage(changes: Partial<GuidedTools> = {}): Promise<Stage> {
  const faults: unknown[] = [];
  const started = await startServer({
    host: scriptedHost(),
    guided: scriptedGuided(changes),
    token: TOKEN,
    users: memoryUsers({ [AGENT_TOKEN]: { name: 'bot', role: 'agent' } }),
    port: 0,
    timers: thisMachine().timers,
    onFault: thrown => faults.push(thrown),
  });
  if (!started.ok) throw new Error(started.error.message);
  const server = started.value;
  onTestFinished(() => server.close());
  const url = new URL('/mcp/agent', server.url);
  return {
    url,
    faults,
    async connect(version = modern, token = AGENT_TOKEN) {
      const mode = version === handshake ? 'legacy' : { pin: version };
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      const headers = { authorization: `Bearer ${token}` };
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
      onTestFinished(() => client.close());
      return client;
    },
  };
}

const textOf = ({ content }: CallToolResult) => content.map(part => (part.type === 'text' ? part.text : '')).join('');

describe('the agent at /mcp/agent', () => {
  it.each([modern, handshake])('[V37] [V38] speaks %s and has exactly the six tools', async version => {
    const client = await (await stage()).connect(version);
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expect(client.getInstructions()).toContain('one step at a time');
    const { tools } = await client.listTools();
    expect(tools.map(tool => [tool.name, tool.annotations?.readOnlyHint])).toEqual([
      ['list_workflows', true],
      ['inspect_workflow', true],
      ['start_workflow', false],
      ['continue_workflow', false],
      ['checkpoint_workflow', false],
      ['resume_session', true],
    ]);
    for (const tool of tools) {
      expect(tool).toMatchObject({
        title: expect.any(String),
        description: expect.stringMatching(/^(Lists|Shows|Starts|Hands in|Saves|Finds) /),
        inputSchema: { type: 'object', additionalProperties: false },
        outputSchema: { type: 'object' },
        annotations: { destructiveHint: false, openWorldHint: false },
      });
    }
  });

  it.each([modern, handshake])(
    '[V39] walks a workflow to its end with %s, by the calls that answers give',
    async version => {
      const client = await (await stage()).connect(version);
      let answer = await client.callTool({ name: 'start_workflow', arguments: { workflowId: 'test.two_steps' } });
      const titles: (string | undefined)[] = [];
      for (;;) {
        const step = guidedSchemas.continue.answer.parse(answer.structuredContent);
        titles.push(step.pending?.title);
        const text = textOf(answer);
        expect(text).toContain(`workflow test.two_steps (Two steps), run ${RUN}, `);
        if (step.nextCall === null) {
          expect(text).toContain('The workflow is complete.');
          break;
        }
        expect(text).toContain(step.pending?.prompt);
        expect(text).toContain(`${step.nextCall.tool} ${JSON.stringify(step.nextCall.arguments)}`);
        // Its token is long: a start has it in its text, and so has a rehydrate.
        if (step.pending?.stepId === 'look') expect(text).toContain(`"checkpointToken":"${step.checkpointToken}"`);
        answer = await client.callTool({ name: step.nextCall.tool, arguments: step.nextCall.arguments });
      }
      expect(titles).toEqual(['Look around', 'Tell what you saw', undefined]);
    },
  );

  it('[V39] every tool answers with structured content and a text that says the next call', async () => {
    const client = await (await stage()).connect();
    const calls: [string, Record<string, unknown>, string][] = [
      ['list_workflows', {}, 'inspect_workflow {"workflowId":"test.two_steps"}'],
      ['inspect_workflow', { workflowId: 'test.two_steps' }, 'start_workflow {"workflowId":"test.two_steps"}'],
      ['checkpoint_workflow', { checkpointToken: 'chk.0' }, 'continue_workflow {"stateToken":"st.0"'],
      ['resume_session', { query: 'look' }, 'continue_workflow {"stateToken":"st.1"}'],
    ];
    for (const [name, args, next] of calls) {
      const answer = await client.callTool({ name, arguments: args });
      expect(answer.isError ?? false).toBe(false);
      const { answer: schema } = Object.values(guidedSchemas).find(each => each.tool === name) ?? guidedSchemas.list;
      expect(schema.parse(answer.structuredContent)).toEqual(answer.structuredContent);
      expect(textOf(answer)).toContain(next);
    }
  });

  it('[V39] a blocked answer says what to fix, and that a fresh ackToken is needed', async () => {
    const client = await (await stage({ continue: async () => ok(blocked) })).connect();
    const answer = await client.callTool({
      name: 'continue_workflow',
      arguments: { stateToken: 'st.0', ackToken: 'ack.0' },
    });
    expect(answer.isError ?? false).toBe(false);
    expect(answer.structuredContent).toEqual(blocked);
    expect(textOf(answer)).toBe(`workflow test.two_steps (Two steps), run ${RUN}, step look

BLOCKED. Nothing moved: Look around is still the current step.

- MISSING_REQUIRED_OUTPUT: There is no loop control artifact.
  How to fix it: Hand in one with a decision.

Three things to do now:
1. Fix what is listed above.
2. Make the call below; it changes nothing and gives a fresh ackToken.
3. Hand the whole step in again with that ackToken; the old one only repeats this answer.
continue_workflow {"stateToken":"st.0"}`);
  });

  it('[V39] earlier outputs are named, so that they can be corrected', async () => {
    const outputs = [
      { outputId: 'o-1', stepInstanceKey: 'look', outputChannel: 'recap' as const, excerpt: 'I looked around.' },
      { outputId: 'o-2', stepInstanceKey: 'look', outputChannel: 'artifact' as const, excerpt: 'sha256:00' },
    ];
    const { connect } = await stage({
      start: async () => ok({ ...blocked, kind: 'ok', blockers: [], outputs }),
    });
    const answer = await (await connect()).callTool({ name: 'start_workflow', arguments: { workflowId: 'a.b' } });
    expect(textOf(answer)).toContain('- look, notes o-1: I looked around.\n- look, artifact o-2: sha256:00');
  });

  it('[V39] only the person is asked for what only the person can give', async () => {
    const [blocker] = blocked.blockers;
    if (blocker === undefined) throw new Error('nothing blocks');
    const ofPerson: StepAnswer = { ...blocked, blockers: [{ ...blocker, code: 'USER_ONLY_DEPENDENCY' }] };
    const client = await (await stage({ continue: async () => ok(ofPerson) })).connect();
    const answer = await client.callTool({ name: 'continue_workflow', arguments: { stateToken: 'st.0' } });
    expect(textOf(answer)).toContain('1. Fix what is listed above with the person: ask them and wait');
  });
});

it('[V44] an answer that came while the connection was cut is sent when the client reconnects', async () => {
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const { url } = await stage({
    continue: async () => {
      await finished;
      return ok(blocked);
    },
  });
  const headers = {
    authorization: `Bearer ${AGENT_TOKEN}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-protocol-version': handshake,
  };
  const ask = (method: string, params: object, more: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(url, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
      ...(signal && { signal }),
    });
  const clientInfo = { name: 'test', version: '1' };
  const begun = await ask('initialize', { protocolVersion: handshake, capabilities: {}, clientInfo });
  const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
  await begun.text();

  const cut = new AbortController();
  const call = { name: 'continue_workflow', arguments: { stateToken: 'st.0' } };
  const { body } = await ask('tools/call', call, session, cut.signal);
  const first = new TextDecoder().decode((await body?.getReader().read())?.value);
  cut.abort();
  finish();
  const lastEventId = /^id: (.*)$/m.exec(first)?.[1] ?? '';
  // Until the server has noticed that the connection is gone, its stream is taken.
  let again: Response;
  do again = await fetch(url, { headers: { ...headers, ...session, 'last-event-id': lastEventId } });
  while (again.status === 409);
  expect(await again.text()).toContain('"id":7');
});

describe('failures', () => {
  it.each([modern, handshake])(
    '[V40] with %s, what the port refuses is the envelope, and a text that teaches',
    async version => {
      const client = await (await stage()).connect(version);
      const answer = await client.callTool({ name: 'start_workflow', arguments: { workflowId: 'test.three_steps' } });
      expect(answer).toMatchObject({ isError: true });
      expect(errorEnvelope.parse(answer.structuredContent)).toMatchObject({ code: 'workflow/unknown' });
      expect(textOf(answer)).toBe(`start_workflow failed: workflow/unknown

What is wrong: There is no workflow "test.three_steps".
How to fix it: List the workflows and use an id from there.
Again? The same call will fail again: change it first.

Next call:
list_workflows {}`);
    },
  );

  it('[V40] a token of another server leads to resume_session, a locked session to the same call', async () => {
    const { connect } = await stage({
      checkpoint: async () => ({
        ok: false,
        error: failure('TOKEN_SESSION_LOCKED', {
          message: 'Another process writes the session.',
          suggestion: 'Wait.',
          retry: { kind: 'retryable_after_ms', afterMs: 250 },
        }),
      }),
    });
    const client = await connect();
    const foreign = await client.callTool({ name: 'continue_workflow', arguments: { stateToken: 'st.v1.of.another' } });
    expect(foreign.structuredContent).toMatchObject({ code: 'TOKEN_UNKNOWN_NODE' });
    expect(textOf(foreign)).toContain('Next call:\nresume_session {}');
    const locked = await client.callTool({ name: 'checkpoint_workflow', arguments: { checkpointToken: 'chk.0' } });
    expect(locked.structuredContent).toMatchObject({ retry: { kind: 'retryable_after_ms', afterMs: 250 } });
    expect(textOf(locked)).toContain(
      'in 250 ms; it is safe.\n\nNext call:\ncheckpoint_workflow with the same arguments',
    );
  });

  it.each<[string, string, Record<string, unknown>, string]>([
    ['nothing', 'start_workflow', {}, 'workflowId'],
    ['a number for a text', 'start_workflow', { workflowId: 7 }, 'workflowId'],
    ['a field that there is not', 'list_workflows', { filter: 'x' }, 'filter'],
    ['an id of 900 KB', 'start_workflow', { workflowId: 'x'.repeat(900_000) }, 'workflowId'],
    ['a list for an object', 'start_workflow', { workflowId: 'a.b', context: [] }, 'context'],
    ['a field of a field', 'continue_workflow', { stateToken: 'st.0', output: { notes: 'x' } }, 'output'],
  ])('[V40] %s is told by its name, and the port is not called', async (_name, tool, args, told) => {
    const never = async () => {
      throw new Error('the port was called');
    };
    const { connect, faults } = await stage({ list: never, start: never, continue: never });
    const answer = await (await connect()).callTool({ name: tool, arguments: args });
    expect(answer).toMatchObject({ isError: true, structuredContent: { code: 'VALIDATION_ERROR' } });
    const text = textOf(answer);
    expect(text).toContain(told);
    expect(text).toContain(`Next call:\n${tool} {`);
    expect(text.length).toBeLessThan(3_000);
    expect(faults).toEqual([]);
  });

  it('[V40] a hundred thousand nested lists are reported', async () => {
    const { url, faults } = await stage();
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${AGENT_TOKEN}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"start_workflow","arguments":{"workflowId":"a.b","context":{"x":${deep}}}}}`,
    });
    expect(await answer.text()).toContain('context: nested deeper than 500 levels');
    expect(faults).toEqual([]);
  });

  it('[V40] an unforeseen failure reveals nothing', async () => {
    const bang = new Error('the secret is 1234');
    const { connect, faults } = await stage({
      resume: async () => {
        throw bang;
      },
    });
    const answer = await (await connect()).callTool({ name: 'resume_session', arguments: {} });
    expect(answer).toMatchObject({ isError: true, structuredContent: { code: 'command/unexpected' } });
    expect(JSON.stringify(answer)).not.toContain('1234');
    expect(textOf(answer)).toContain('No call of yours can fix this: stop, and show this message to the person.');
    expect(faults).toEqual([bang]);
  });

  it('[V37] there is no other tool', async () => {
    const client = await (await stage()).connect();
    await expect(client.callTool({ name: 'export_session', arguments: {} })).rejects.toThrow('export_session');
  });
});

describe('access', () => {
  it.each(['', 'another-token'])('[V36] the token %j is refused', async token => {
    const { connect, url } = await stage();
    await expect(connect(modern, token)).rejects.toThrow();
    const answer = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    expect([answer.status, errorEnvelope.parse(await answer.json()).code]).toEqual([401, 'request/unauthorized']);
  });

  it('[V36] a page of another origin is refused, even with the token', async () => {
    const { url } = await stage();
    const headers = { authorization: `Bearer ${AGENT_TOKEN}`, origin: 'http://evil.example' };
    expect((await fetch(url, { method: 'POST', headers })).status).toBe(403);
  });

  it.each([
    ['nothing', ''],
    ['half an object', '{'],
    ['an empty batch', '[]'],
    ['no method', '{"jsonrpc":"2.0"}'],
  ])('[V36] garbage ends nothing: %s', async (_name, body) => {
    const { url, connect } = await stage();
    const headers = {
      authorization: `Bearer ${AGENT_TOKEN}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const { status } = await fetch(url, { method: 'POST', headers, body });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect((await (await connect()).listTools()).tools).toHaveLength(6);
  });
});

it('[V36] a body of more than a megabyte is not read', async () => {
  const { route } = mcpHttp(createAgentMcp(scriptedGuided()), { timers: thisMachine().timers });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const request = new Request('http://127.0.0.1/mcp/agent', { method: 'POST', headers, body: ' '.repeat(1_100_000) });
  expect((await route(request)).status).toBe(413);
});

it('[V40] the template of every tool is a valid call', () => {
  for (const { name, input, template } of agentTools)
    expect([name, input.safeParse(template).success]).toEqual([name, true]);
});
