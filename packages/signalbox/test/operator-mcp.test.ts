import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type CallToolResult, Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { entry, ownEnvironment, PATIENCE_MS, signalbox, temporaryFolder } from './program.ts';

const folder = temporaryFolder();
const plan = `
import { definePlan, Human, Phase, Step, Task } from 'signalbox';
import * as z from 'zod';
export default definePlan({
  name: 'gate',
  state: z.object({ n: z.number().default(0) }),
  render: ctx => (
    <Phase name="all">
      <Step><Human id="ask" prompt="Go?" /></Step>
      <Step><Task id="one" run={() => 1} onFinished={() => ctx.state.update('n', n => n + 1)} /></Step>
      <Step><Task id="two" run={() => 2} onFinished={() => ctx.state.update('n', n => n + 1)} /></Step>
    </Phase>
  ),
});
`;

function place(name: string): string {
  const cwd = path.join(folder, name);
  mkdirSync(cwd);
  writeFileSync(path.join(cwd, 'gate.tsx'), plan);
  // It is the home directory here too, and so no project.
  mkdirSync(path.join(cwd, 'data'), { mode: 0o700 });
  const config = JSON.stringify({ plans: { roots: [cwd] } });
  writeFileSync(path.join(cwd, 'data', 'config.json'), config, { mode: 0o600 });
  return cwd;
}

const environment = (cwd: string) => ({ ...ownEnvironment(cwd), SIGNALBOX_DATA_DIR: path.join(cwd, 'data') });

interface Told {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

type Version = '2026-07-28' | '2025-11-25';

async function connect(cwd: string, version: Version) {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: version === '2025-11-25' ? 'legacy' : { pin: version } } },
  );
  const heard: Told[] = [];
  let bell = () => {};
  const hear = async (told: Told) => {
    heard.push(told);
    bell();
  };
  client.fallbackNotificationHandler = hear;
  client.setNotificationHandler('notifications/resources/updated', hear);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [entry, 'mcp', '--operator'],
    cwd,
    env: environment(cwd),
    stderr: 'pipe',
  });
  let complaints = '';
  transport.stderr?.on('data', text => {
    complaints += text;
  });
  await client.connect(transport, { timeout: PATIENCE_MS });
  onTestFinished(() => client.close());
  return {
    client,
    heard,
    complaints: () => complaints,
    async until(holds: (told: readonly Told[]) => boolean) {
      while (!holds(heard)) {
        await new Promise<void>(resolve => {
          bell = resolve;
        });
      }
    },
    async call(name: string, args: Record<string, unknown>) {
      const { structuredContent, isError } = (await client.callTool({ name, arguments: args })) as CallToolResult;
      return { isError: isError ?? false, ...(structuredContent as { readonly id: string; readonly status: string }) };
    },
    async read(uri: string) {
      const [content] = (await client.readResource({ uri })).contents;
      return JSON.parse(content !== undefined && 'text' in content ? content.text : 'null');
    },
  };
}

/** The whole conversation of an operator's program. */
async function operate(cwd: string, version: Version): Promise<void> {
  const { client, heard, until, call, read, complaints } = await connect(cwd, version);
  expect((await client.listTools()).tools.length).toBe(23);
  const started = await call('execution.start', { script: path.join(cwd, 'gate.tsx'), name: 'over stdio' });
  const at = `signalbox://executions/${started.id}`;
  const listening =
    version === '2026-07-28' ? await client.listen({ resourceSubscriptions: [`${at}/events`] }) : undefined;
  if (listening === undefined) await client.subscribeResource({ uri: `${at}/approvals` });
  const open = async () => (await read(`${at}/approvals`)).approvals as readonly { readonly id: string }[];
  let [approval] = await open();
  while (approval === undefined) [approval] = await open();
  await call('state.update', { execution_id: started.id, key: 'n', op: 'increment', value: 40, trigger: 'a test' });
  const respond = { execution_id: started.id, approval_id: approval.id, decision: 'approve' };
  expect(await call('approval.respond', respond)).toMatchObject({ status: 'approved', responder: 'operator' });

  const isEnd = ({ method, params }: Told) =>
    method === 'signalbox.execution.status' && params?.execution_id === started.id && params.status === 'completed';
  const newsIn = (told: readonly Told[]) =>
    told.flatMap(each => {
      const meta = each.params?._meta as { readonly 'signalbox/news'?: readonly Told[] } | undefined;
      return meta?.['signalbox/news'] ?? [each];
    });
  await until(told => newsIn(told).some(isEnd));
  expect(await read(at)).toMatchObject({ status: 'completed', output: { n: 42 } });
  const { frames } = await read(`${at}/frames`);
  const told = newsIn(heard).filter(({ method }) => method === 'signalbox.frame.created');
  const indexes = told.flatMap(({ params }) => (params?.execution_id === started.id ? [params.frame_index] : []));
  // Of a session every frame is told; who listens hears of those after that.
  const all = (frames as readonly { readonly frame_index: number }[]).map(({ frame_index }) => frame_index);
  expect(indexes).toEqual(listening === undefined ? all : all.slice(-indexes.length));
  expect(indexes.length).toBeGreaterThan(2);
  const updates = heard.filter(({ method }) => method === 'notifications/resources/updated');
  const uri = listening === undefined ? `${at}/approvals` : `${at}/events`;
  expect([...new Set(updates.map(({ params }) => params?.uri))]).toEqual([uri]);

  const exported = await client.callTool({ name: 'execution.export', arguments: { execution_id: started.id } });
  expect(exported.content).toMatchObject([
    { type: 'text' },
    { type: 'resource', resource: { mimeType: 'application/gzip' } },
  ]);
  expect(await call('execution.pause', { execution_id: 'x' })).toMatchObject({ isError: true, code: 'run/unknown' });
  await expect(client.readResource({ uri: `${at}/nodes/ünknown node` })).rejects.toThrow('has no node');
  await listening?.close();
  expect(complaints()).toBe('');
}

describe('signalbox mcp --operator where nobody owns the data directory', () => {
  it.each<Version>(['2025-11-25', '2026-07-28'])('[V121] owns it: %s', version =>
    operate(place(`own-${version}`), version),
  );

  it('[V121] says what it cannot be asked together', () => {
    const cwd = place('usage');
    expect(signalbox(['mcp', '--operator', '--workflows', '.'], { cwd })).toMatchObject({ status: 2, stdout: '' });
  });
});

describe('signalbox mcp --operator beside signalbox serve', () => {
  let server: ChildProcess;
  let cwd: string;
  beforeAll(async () => {
    cwd = place('served');
    const args = [entry, 'serve', '--port', '0', '--json'];
    const started = spawn(process.execPath, args, { cwd, env: environment(cwd), stdio: ['ignore', 'pipe', 'inherit'] });
    server = started;
    await new Promise(resolve => started.stdout.once('data', resolve));
  });
  const end = async () => {
    if (server.exitCode !== null) return;
    const closed = new Promise(resolve => server.once('close', resolve));
    server.kill('SIGTERM');
    await closed;
  };
  afterAll(end);

  it.each<Version>(['2025-11-25', '2026-07-28'])('[V121] speaks for it: %s', version => operate(cwd, version));

  it('[V122] hands garbage on and answers it, line by line; nothing but messages is written', async () => {
    const child = spawn(process.execPath, [entry, 'mcp', '--operator'], { cwd, env: environment(cwd), stdio: 'pipe' });
    const lines = [
      'no json',
      '',
      '[]',
      '{}',
      'null',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      '{"jsonrpc":"2.0","id":2,"method":"no/such"}',
      '{"jsonrpc":"1.0","id":3,"method":"tools/list"}',
      `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"${'x'.repeat(2_000_000)}"}}`,
      '{"jsonrpc":"2.0","id":"5","method":"initialize","params":{}}',
      '\u0000\u0001',
    ];
    let written = '';
    const answered = new Promise<void>(resolve => {
      child.stdout.setEncoding('utf8').on('data', text => {
        written += text;
        if ([1, 2, 4, '"5"'].every(id => written.includes(`"id":${id}`)) && written.split('\n').length > 9) resolve();
      });
    });
    child.stdin.write(`${lines.join('\n')}\n`);
    await answered;
    const closed = new Promise(resolve => child.once('close', resolve));
    child.stdin.end();
    expect(await closed).toBe(0);
    const answers = written
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(answers.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true);
    expect(answers.find(({ id }) => id === 1)).toMatchObject({ result: { tools: expect.any(Array) } });
    expect(answers.find(({ id }) => id === 4)).toMatchObject({ error: { data: { code: 'request/too-large' } } });
    expect(answers.filter(({ error }) => error !== undefined).length).toBe(answers.length - 1);
  });

  it('[V121] says so when the process that it speaks for is gone', async () => {
    const { client, call } = await connect(cwd, '2026-07-28');
    expect(await call('execution.pause', { execution_id: 'x' })).toMatchObject({ code: 'run/unknown' });
    await end();
    await expect(client.listTools()).rejects.toThrow('does not answer');
  });
});
