import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { guidedSchemas, type StepAnswer } from '@signalbox/app/guided';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { entry, PATIENCE_MS, signalbox, temporaryFolder } from './program.ts';

const folder = temporaryFolder();
let count = 0;

const workflow = (id: string) => ({
  id,
  name: 'Find and tell',
  description: 'Finds something and tells it.',
  version: '1.0.0',
  steps: [
    { id: 'find', title: 'Find it', prompt: 'Find {{thing}}.' },
    {
      id: 'check',
      title: 'Check it',
      prompt: 'Check what you found.',
      validationCriteria: [{ type: 'contains', value: 'EVIDENCE', message: 'Notes must have EVIDENCE' }],
    },
    { id: 'tell', title: 'Tell it', prompt: 'Tell what you found.' },
  ],
});

/** A directory with a workflow in it, and a data directory of its own. */
function newPlace(): string {
  const place = path.join(folder, `place-${count++}`);
  mkdirSync(path.join(place, '.signalbox/workflows'), { recursive: true });
  for (const id of ['project.find', 'project.other']) {
    writeFileSync(path.join(place, `.signalbox/workflows/${id}.json`), JSON.stringify(workflow(id)));
  }
  return place;
}

const environment = (cwd: string) => ({
  PATH: process.env.PATH ?? '',
  HOME: path.join(cwd, 'home'),
  SIGNALBOX_DATA_DIR: path.join(cwd, 'data'),
});

type Connect = (cwd: string, version: Version) => Promise<Client>;
type Version = '2026-07-28' | '2025-11-25';
const versions: readonly Version[] = ['2026-07-28', '2025-11-25'];

const newClient = (version: Version) =>
  new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: version === '2025-11-25' ? 'legacy' : { pin: version } } },
  );

const onStdio: Connect = async (cwd, version) => {
  const client = newClient(version);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [entry, 'mcp'],
    cwd,
    env: environment(cwd),
    stderr: 'inherit',
  });
  await client.connect(transport, { timeout: PATIENCE_MS });
  onTestFinished(() => client.close());
  return client;
};

/** One server for all who connect: it takes longer to start than they need it. */
let served: Promise<{ readonly url: string; readonly token: string; end(): Promise<void> }> | undefined;
afterAll(async () => (await served)?.end());

async function serve(cwd: string) {
  const server = spawn(process.execPath, [entry, 'serve', '--port', '0', '--json'], {
    cwd,
    env: environment(cwd),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = new Promise(resolve => server.once('close', resolve));
  const line = await new Promise<string>(resolve => server.stdout.setEncoding('utf8').once('data', resolve));
  const { url } = JSON.parse(line);
  const added = spawnSync(process.execPath, [entry, 'users', 'add', 'bot', '--role', 'agent', '--json'], {
    cwd,
    env: environment(cwd),
    encoding: 'utf8',
  });
  return {
    url,
    token: JSON.parse(added.stdout).token,
    async end() {
      server.kill('SIGTERM');
      await closed;
    },
  };
}

const onHttp: Connect = async (cwd, version) => {
  served ??= serve(cwd);
  const { url, token } = await served;
  const headers = { authorization: `Bearer ${token}` };
  const client = newClient(version);
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp/agent', url), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return client;
};

const textOf = ({ content }: CallToolResult) => content.map(part => (part.type === 'text' ? part.text : '')).join('');

/** An answer that must be a step. */
async function step(client: Client, name: string, args: Record<string, unknown>): Promise<StepAnswer> {
  const answer = await client.callTool({ name, arguments: args });
  if (answer.isError) throw new Error(textOf(answer));
  return guidedSchemas.continue.answer.parse(answer.structuredContent);
}

const handIn = (client: Client, { stateToken, ackToken }: StepAnswer, notesMarkdown: string) =>
  step(client, 'continue_workflow', { stateToken, ackToken, output: { notesMarkdown } });

describe.each([
  ['signalbox mcp', onStdio],
  ['signalbox serve at /mcp/agent', onHttp],
])('%s', (_name, connect) => {
  it.each(versions)('an agent walks a workflow to its end with %s', async version => {
    const client = await connect(newPlace(), version);
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    const { tools } = await client.listTools();
    expect(tools.map(tool => tool.name)).toEqual(Object.values(guidedSchemas).map(each => each.tool));

    const listed = await client.callTool({ name: 'list_workflows', arguments: {} });
    expect(textOf(listed)).toContain('- project.find: Find and tell (project)');

    const first = await step(client, 'start_workflow', { workflowId: 'project.find', context: { thing: 'the key' } });
    expect(first).toMatchObject({
      kind: 'ok',
      pending: { stepId: 'find' },
      nextIntent: 'perform_pending_then_continue',
    });
    expect(first.pending?.prompt).toContain('Find the key.');

    const second = await handIn(
      client,
      first,
      'I found the key under the mat, where the person said that it would be.',
    );
    expect(second).toMatchObject({ kind: 'ok', pending: { stepId: 'check' } });

    const refused = await handIn(client, second, 'I looked at it and it seems to be the right one.');
    expect(refused).toMatchObject({ kind: 'blocked', pending: { stepId: 'check' }, runId: first.runId });
    const fresh = await step(client, 'continue_workflow', { stateToken: refused.stateToken });
    const third = await handIn(client, fresh, 'EVIDENCE: it opens the door. I tried it twice.');
    expect(third).toMatchObject({ kind: 'ok', pending: { stepId: 'tell' } });

    expect(third.checkpointToken).toBeUndefined();
    const shown = await step(client, 'continue_workflow', { stateToken: third.stateToken });
    const saved = await client.callTool({
      name: 'checkpoint_workflow',
      arguments: { checkpointToken: shown.checkpointToken, notesMarkdown: 'Half of it is told.' },
    });
    const { stateToken, ackToken } = guidedSchemas.checkpoint.answer.parse(saved.structuredContent);
    const output = { notesMarkdown: 'I told the person that the key is under the mat.' };
    const last = await step(client, 'continue_workflow', { stateToken, ackToken, output });
    expect(last).toMatchObject({ kind: 'ok', isComplete: true, pending: null, nextIntent: 'complete', nextCall: null });
  });

  it.each(versions)(
    '[V353] [V354] a person begins with a prompt and looks at the step and the recap, with %s',
    async version => {
      const client = await connect(newPlace(), version);
      const { prompts } = await client.listPrompts();
      expect(prompts.find(({ name }) => name === 'project.find')).toMatchObject({
        title: 'Find and tell',
        description: 'Finds something and tells it.',
        arguments: [{ name: 'goal', required: false }],
      });
      const prompt = await client.getPrompt({ name: 'project.find', arguments: { goal: 'Find my "key".' } });
      expect(prompt.messages).toHaveLength(1);
      const [message] = prompt.messages;
      const asked = message?.content.type === 'text' ? message.content.text : '';
      expect(asked).toContain('What I want: Find my "key".');
      const call = /^start_workflow (\{.*\})$/m.exec(asked)?.[1] ?? '';
      expect(JSON.parse(call)).toEqual({ workflowId: 'project.find', context: { goal: 'Find my "key".' } });
      await expect(client.getPrompt({ name: 'project.nothing' })).rejects.toThrow('project.nothing');
      await expect(client.getPrompt({ name: 'project.find', arguments: { path: 'x' } })).rejects.toThrow(
        'Prompts of workflows have no argument path. The only one is "goal".',
      );

      const started = await step(client, 'start_workflow', JSON.parse(call));
      const at = (kind: string) => `signalbox://guided/${started.runId}/${kind}`;
      const read = async (kind: string) => {
        const [content] = (await client.readResource({ uri: at(kind) })).contents;
        return content !== undefined && 'text' in content ? content.text : '';
      };
      expect(await read('recap')).toContain('Nothing was handed in yet.');
      await handIn(client, started, 'I found the key under the mat.\n\nIt was wet.');
      const { resources } = await client.listResources();
      expect(resources.filter(({ uri }) => uri.includes(started.runId))).toMatchObject([
        { uri: at('step'), title: 'Find and tell: Check it', mimeType: 'text/markdown' },
        { uri: at('recap'), title: 'Find and tell: recap' },
      ]);
      expect((await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
        'signalbox://guided/{run}/step',
        'signalbox://guided/{run}/recap',
      ]);
      expect(await read('recap')).toContain('I found the key under the mat.\n\nIt was wet.');
      const shown = await read('step');
      expect(shown).toContain('# Check it\n\nCheck what you found.');
      expect(await read('step')).toBe(shown);
      // Reading recorded nothing: the call that it shows is that of a rehydrate, and hands the step in.
      const next = JSON.parse(/^continue_workflow (\{.*\})$/m.exec(shown)?.[1] ?? '');
      const handed = await step(client, 'continue_workflow', {
        ...next,
        output: { notesMarkdown: 'EVIDENCE: it opens the door. I tried it twice.' },
      });
      expect(handed).toMatchObject({ kind: 'ok', pending: { stepId: 'tell' } });
      const other = 'signalbox://guided/01890000-0000-7000-8000-000000000001/step';
      await expect(client.readResource({ uri: other })).rejects.toThrow('find an older run with resume_session');
      for (const uri of [`${at('step')}/more`, 'signalbox://executions', 'file:///etc/passwd']) {
        await expect(client.readResource({ uri })).rejects.toThrow(`There is no resource ${uri}.`);
      }
    },
  );
});

describe('signalbox mcp', () => {
  it('goes on in another process, with the token of the first and by resume_session', async () => {
    const cwd = newPlace();
    const before = await onStdio(cwd, '2025-11-25');
    const first = await step(before, 'start_workflow', { workflowId: 'project.find', context: { thing: 'x' } });
    await before.close();
    const after = await onStdio(cwd, '2026-07-28');
    const found = await after.callTool({ name: 'resume_session', arguments: {} });
    const { candidates } = guidedSchemas.resume.answer.parse(found.structuredContent);
    expect(candidates).toMatchObject([{ runId: first.runId, pendingStep: { stepId: 'find' } }]);
    expect(await handIn(after, first, 'I found it where it was said to be, at last.')).toMatchObject({
      pending: { stepId: 'check' },
    });
  });

  it('[V47] [X18] says nothing but MCP, ends when its input does, and survives garbage and messages of megabytes', async () => {
    const cwd = newPlace();
    const child = spawn(process.execPath, [entry, 'mcp'], { cwd, env: environment(cwd), stdio: 'pipe' });
    let told = '';
    child.stdout.setEncoding('utf8').on('data', text => {
      told += text;
    });
    const ended = new Promise<number | null>(resolve => child.once('close', resolve));
    child.stdin.write('garbage\n{"jsonrpc":"2.0"}\n');
    child.stdin.write(
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n',
    );
    const params = { name: 'start_workflow', arguments: { workflowId: 'x'.repeat(3_000_000) } };
    const huge = { method: 'tools/call', params, jsonrpc: '2.0', id: 2 };
    child.stdin.write(`${JSON.stringify(huge)}\n{"jsonrpc":"2.0","id":3,"method":"tools/list"}\n`);
    while (!told.includes('"id":3')) await new Promise(resolve => child.stdout.once('data', resolve));
    child.stdin.end();
    expect(await ended).toBe(0);
    const lines = told
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
      .sort((one, other) => one.id - other.id);
    expect(lines).toMatchObject([
      { id: 1, result: { serverInfo: { name: 'signalbox' } } },
      { id: 2, error: { data: { code: 'request/too-large' } } },
      { id: 3, result: { tools: expect.any(Array) } },
    ]);
  });

  it('refuses contexts that are too large or not plain, and tokens that are of another run or broken', async () => {
    const client = await onStdio(newPlace(), '2026-07-28');
    for (const [context, told] of [
      [{ big: 'x'.repeat(300_000) }, 'context takes 300010 bytes, the most is 262144'],
      [JSON.parse('{"__proto__":{"admin":true}}'), 'the key __proto__ is reserved'],
    ]) {
      const args = { workflowId: 'project.find', context };
      const answer = await client.callTool({ name: 'start_workflow', arguments: args });
      expect(answer).toMatchObject({ isError: true, structuredContent: { code: 'VALIDATION_ERROR' } });
      expect(textOf(answer)).toContain(told);
    }
    const found = await client.callTool({ name: 'resume_session', arguments: {} });
    expect(found.structuredContent).toMatchObject({ candidates: [] });

    const start = (workflowId: string) => step(client, 'start_workflow', { workflowId, context: { thing: 'x' } });
    const [one, other] = [await start('project.find'), await start('project.other')];
    const refusal = async (args: Record<string, unknown>) => {
      const answer = await client.callTool({ name: 'continue_workflow', arguments: args });
      expect(answer.isError).toBe(true);
      return [(answer.structuredContent as { code: string }).code, textOf(answer)];
    };
    expect(await refusal({ stateToken: one.stateToken, ackToken: other.ackToken })).toEqual([
      'TOKEN_SCOPE_MISMATCH',
      expect.stringContaining('Next call:\ncontinue_workflow'),
    ]);
    expect(await refusal({ stateToken: one.ackToken ?? '' })).toEqual(['TOKEN_INVALID_FORMAT', expect.anything()]);
    expect(await refusal({ stateToken: `${one.stateToken.slice(0, -2)}AA` })).toEqual([
      'TOKEN_BAD_SIGNATURE',
      expect.stringContaining('Next call:\nresume_session'),
    ]);
    expect(await refusal({ stateToken: 'rubbish' })).toEqual(['TOKEN_INVALID_FORMAT', expect.anything()]);
    expect(await refusal({ stateToken: 7 })).toEqual(['VALIDATION_ERROR', expect.stringContaining('stateToken')]);
    expect(await step(client, 'continue_workflow', { stateToken: one.stateToken })).toMatchObject({
      pending: { stepId: 'find' },
    });
  });

  it('refuses a directory that is not there', () => {
    const cwd = newPlace();
    expect(signalbox(['mcp', '--workflows', 'nowhere'], { cwd })).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining('There is no directory nowhere.'),
    });
  });
});

describe('signalbox workflow', () => {
  const cwd = newPlace();
  const run = (...args: readonly string[]) => signalbox(['workflow', ...args], { cwd, env: environment(cwd) });

  it('[X19] lists those of the program and of the project, and says which cannot be run', () => {
    writeFileSync(
      path.join(cwd, '.signalbox/workflows/broken.json'),
      '{"id":"project.broken","name":"B\\u001b[2J","steps":[]}',
    );
    writeFileSync(path.join(cwd, '.signalbox/workflows/notes.json'), '{"a":1}');
    const listed = run('list');
    expect(listed.status).toBe(0);
    expect(listed.stdout).toMatch(/^✗ project\.broken {2,}B\\u\{1b\}\[2J {2,}project {2}cannot be run/m);
    expect(listed.stdout).toMatch(/^✓ project\.find {2,}Find and tell {2,}project$/m);
    expect(listed.stdout).toMatch(/^✓ wr\.code-review {2,}Code review {2,}bundled$/m);
    expect(listed.stderr).toContain('notes.json: ');
    const found = run('list', '--json')
      .stdout.trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(found.map(({ workflowId, status }) => [workflowId, status])).toEqual(
      expect.arrayContaining([
        ['project.broken', 'invalid'],
        ['project.find', 'ok'],
      ]),
    );
  });

  it('inspects one, for people and for programs', () => {
    const inspected = run('inspect', 'project.find');
    expect(inspected).toMatchObject({ status: 0, stderr: '' });
    for (const part of ['Find and tell', 'find: Find it', 'tell: Tell it']) expect(inspected.stdout).toContain(part);
    expect(JSON.parse(run('inspect', 'project.find', '--json').stdout)).toMatchObject({
      workflow: { workflowId: 'project.find', workflowHash: expect.stringMatching(/^sha256:/) },
      steps: [{ stepId: 'find' }, { stepId: 'check' }, { stepId: 'tell' }],
    });
  });

  const file = (name: string, content: object) => {
    writeFileSync(path.join(cwd, name), JSON.stringify(content));
    return name;
  };

  it('validates a file: every problem, where it is and how to mend it', () => {
    const twice = [
      { id: 'a', title: 'A', prompt: 'Do it.' },
      { id: 'a', title: 'B' },
    ];
    const bad = file('bad.json', { ...workflow('project.bad'), steps: twice });
    const told = run('validate', bad);
    expect(told.status).toBe(1);
    expect(told.stdout).toMatch(/^✗ \/steps\/1\/id {2}duplicate_id\n {2}.+\n {2}.+$/m);
    const report = JSON.parse(run('validate', bad, '--json').stdout);
    expect(report).toMatchObject({
      ok: false,
      problems: expect.arrayContaining([expect.objectContaining({ code: 'prompt_source' })]),
    });
  });

  it('validates strictly for authors: what only warns of an old file is an error', () => {
    const old = file('old.json', { ...workflow('find-it'), surplus: 1 });
    const lenient = run('validate', old);
    expect([lenient.status, lenient.stdout]).toEqual([0, expect.stringContaining('0 errors, 3 warnings')]);
    const strict = run('validate', old, '--strict');
    expect([strict.status, strict.stdout]).toEqual([1, expect.stringContaining('2 errors, 1 warnings')]);
    expect(run('validate', 'wr.research', '--strict')).toMatchObject({ status: 0, stderr: '' });
  });

  it('[X19] compiles to what a run is pinned to, with the hash that a start has', () => {
    const good = file('good.json', workflow('project.find'));
    const { workflowHash, snapshot } = JSON.parse(run('compile', good, '--json').stdout);
    expect(JSON.parse(run('inspect', 'project.find', '--json').stdout).workflow.workflowHash).toBe(workflowHash);
    const plain = run('compile', good);
    expect([JSON.parse(plain.stdout), plain.stderr.trim()]).toEqual([snapshot, workflowHash]);
    expect(snapshot).toMatchObject({ schemaVersion: 1, workflowId: 'project.find' });
  });

  it.each([
    [1, 'workflow/invalid', ['validate', 'gone.json']],
    [1, 'workflow/unknown', ['compile', 'project.fond']],
    [1, 'workflow/unknown', ['inspect', 'project.fond']],
    [2, 'command/usage', ['inspect']],
    [2, 'command/usage', ['list', '--workflows', 'nowhere']],
    [2, 'command/usage', ['fly']],
  ])('ends with %i and %s for %j', (status, code, args) => {
    const ended = run(...args, '--json');
    expect([ended.status, JSON.parse(ended.stdout).code]).toEqual([status, code]);
  });
});
