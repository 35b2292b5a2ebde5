import { mkdirSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { detectSandbox } from '@signalbox/state';
import { expect, it, onTestFinished } from 'vitest';
import { type McpLimits, type McpPorts, openMcpTools } from '../src/mcp-servers/open-mcp-tools.ts';
import { filterOf } from '../src/secrets/open-secrets.ts';
import { temporaryFolder } from './temporary-folder.ts';

const SERVER = fileURLToPath(new URL('support/mcp-server-child.ts', import.meta.url));
const sandbox = await detectSandbox();

function placesIn(folder: string) {
  const [directory, dataDirectory] = [path.join(folder, 'work'), path.join(folder, 'data')];
  for (const one of [directory, dataDirectory]) mkdirSync(one, { recursive: true });
  return { directory, dataDirectory };
}

async function opened(
  how: string,
  more: Partial<McpPorts> = {},
  allow = ['note', 'look', 'add'],
  folder = temporaryFolder(),
) {
  const { directory, dataDirectory } = placesIn(folder);
  const ports: McpPorts = {
    ...{ dataDirectory, sandbox, allowUnconfined: true, env: {}, clean: String },
    memory: path.join(dataDirectory, 'task.mcp.json'),
    ...more,
  };
  const command = [process.execPath, SERVER, how, path.join(directory, 'seen')];
  const tools = await openMcpTools([{ command, allow }], { directory }, ports);
  if (tools.ok) onTestFinished(() => tools.value.close());
  return { tools, dataDirectory, folder };
}

const named = async (...given: Parameters<typeof opened>) => {
  const { tools } = await opened(...given);
  return tools.ok ? 'opened' : `${tools.error.class}: ${tools.error.message}`;
};

async function called(how: string, limits: Partial<McpLimits>): Promise<string> {
  const { tools } = await opened(how, { limits });
  if (!tools.ok) return tools.error.message;
  const context = { signal: new AbortController().signal, cut: (text: string, most: number) => text.slice(0, most) };
  const reply = await Promise.resolve(tools.value.tools[0]?.handler({ text: 'x' }, context as never)).catch(
    (thrown: Error) => thrown.message,
  );
  return typeof reply === 'string' ? reply : JSON.stringify(reply);
}

it('[A1030] takes risk and effects from annotations, and the worst where there are none', async () => {
  const { tools, dataDirectory } = await opened('good');
  if (!tools.ok) throw new Error(tools.error.message);
  expect(tools.value.tools.map(({ name, risk, effects }) => ({ name, risk, effects }))).toEqual([
    { name: 'note', risk: 'high', effects: { kind: 'files', beyond: true } },
    { name: 'look', risk: 'low', effects: { kind: 'files' } },
    { name: 'add', risk: 'medium', effects: { kind: 'files' } },
  ]);
  await tools.value.close();
  expect(readdirSync(path.join(dataDirectory, 'mcp'))).toEqual([]);
});

it('[A1031] one that hangs, floods, sends 100 MB or garbage, or dies is a named error', async () => {
  expect(await called('hangs', { callMs: 200 })).toMatch(/^The MCP server "seen" failed: .*timed out/i);
  expect(await called('huge', {})).toMatch(/failed: it sent a message of more than 4194304 bytes/);
  expect(await called('floods', { messages: 200 })).toMatch(/more than 200 messages that nobody asked for/);
  expect(await called('garbage', {})).toMatch(/failed: it sent what is no message of the protocol/);
  expect(await called('dies', {})).toMatch(/failed: it ended/);
  expect(await called('good', {})).toBe('{"success":true,"value":"noted"}');
});

it('[A1031] one that never answers, lists without end or cannot be started is a named error', async () => {
  expect(await named('silent', { limits: { connectMs: 300 } })).toMatch(/^retryable: The MCP server "seen" failed: /);
  expect(await named('endless', {})).toMatch(/failed: .*did not terminate/);
  const { directory, dataDirectory } = placesIn(temporaryFolder());
  const ports = { dataDirectory, sandbox, allowUnconfined: true, env: {}, clean: String, memory: `${dataDirectory}/m` };
  const started = await openMcpTools([{ command: ['/nowhere/server'], allow: ['a'] }], { directory }, ports);
  expect(started.ok ? '' : started.error.message).toMatch(/^The MCP server "server" failed: /);
});

it('[A1032] one that changes its tools after the work began is refused', async () => {
  const folder = temporaryFolder();
  expect(await named('changes', {}, ['note'], folder)).toBe('opened');
  expect(await named('changes', {}, ['note'], folder)).toMatch(/^terminal: .*offers its tools otherwise/);
});

it('[A1033] a tool that it lacks, a variable that is not set and a machine without a sandbox are refused', async () => {
  expect(await named('good', {}, ['nota'])).toMatch(/^terminal: The MCP server "seen" has no tool "nota".*note/);
  const { directory, dataDirectory } = placesIn(temporaryFolder());
  const missing = {
    ok: false as const,
    error: { code: 'tool/sandbox-missing', message: 'there is none', suggestion: 'Install it.' },
  };
  const ports = {
    dataDirectory,
    sandbox,
    allowUnconfined: false,
    env: {},
    clean: String,
    memory: `${dataDirectory}/m`,
  };
  const tried = async (server: object, more: object) => {
    const tools = await openMcpTools([{ allow: ['a'], ...server }], { directory }, { ...ports, ...more });
    return tools.ok ? 'opened' : tools.error.message;
  };
  const command = [process.execPath, SERVER, 'good'];
  expect(await tried({ command, env: ['TICKETS_KEY'] }, {})).toMatch('The variable TICKETS_KEY is not set');
  expect(await tried({ url: 'http://127.0.0.1:1/mcp', token: 'TICKETS_KEY' }, {})).toMatch('TICKETS_KEY is not set');
  expect(await tried({ command }, { sandbox: missing })).toMatch(/run confined, and there is none/);
});

it('[A1034] secrets in what it says of its tools are taken out', async () => {
  const { tools } = await opened('secret', { clean: filterOf(undefined).text });
  expect(tools.ok && tools.value.tools[0]?.description).not.toContain('sk-ant-api03');
});

it('[A1031] an address that answers with too much, redirects or is not there is a named error', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/away') return void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`{"text":"${'x'.repeat(200_000)}"}`);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { directory, dataDirectory } = placesIn(temporaryFolder());
  const limits = { messageBytes: 100_000, connectMs: 5000 };
  const ports = {
    dataDirectory,
    sandbox,
    allowUnconfined: true,
    env: {},
    clean: String,
    memory: `${dataDirectory}/m`,
    limits,
  };
  for (const at of [`http://127.0.0.1:${port}/`, `http://127.0.0.1:${port}/away`, 'http://127.0.0.1:1/']) {
    const tools = await openMcpTools([{ url: at, allow: ['a'] }], { directory }, ports);
    expect(tools.ok ? '' : tools.error.message).toMatch(/^The MCP server http:\/\/127\.0\.0\.1:\d+ failed: /);
  }
});
