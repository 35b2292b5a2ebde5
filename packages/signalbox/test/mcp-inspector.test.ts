import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { guidedSchemas, type StepAnswer } from '@signalbox/app/guided';
import type { JsonObject } from '@signalbox/model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entry, temporaryFolder } from './program.ts';

const inspector = path.join(import.meta.dirname, '../../../node_modules/.bin/mcp-inspector');
const cwd = temporaryFolder();
const environment = { PATH: process.env.PATH ?? '', HOME: cwd, SIGNALBOX_DATA_DIR: path.join(cwd, 'data') };
let server: ReturnType<typeof spawn>;
let http: readonly string[] = [];

beforeAll(async () => {
  mkdirSync(path.join(cwd, '.signalbox/workflows'), { recursive: true });
  const steps = ['one', 'two'].map(id => ({ id, title: `Do ${id}`, prompt: `Do ${id}.` }));
  const workflow = { id: 'project.two', name: 'Two', description: 'Two steps.', version: '1.0.0', steps };
  writeFileSync(path.join(cwd, '.signalbox/workflows/two.json'), JSON.stringify(workflow));
  const args = [entry, 'serve', '--port', '0', '--json'];
  const started = spawn(process.execPath, args, { cwd, env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  server = started;
  const line = await new Promise<string>(resolve => started.stdout.setEncoding('utf8').once('data', resolve));
  const { url } = JSON.parse(line);
  const adding = [entry, 'users', 'add', 'bot', '--role', 'agent', '--json'];
  const added = spawnSync(process.execPath, adding, { cwd, env: environment, encoding: 'utf8' });
  const { token } = JSON.parse(added.stdout);
  http = [`${url}/mcp/agent`, '--transport', 'http', '--header', `Authorization: Bearer ${token}`];
});

afterAll(async () => {
  const closed = new Promise(resolve => server.once('close', resolve));
  server.kill('SIGTERM');
  await closed;
});

const stdio = [
  ...['-e', `SIGNALBOX_DATA_DIR=${environment.SIGNALBOX_DATA_DIR}`, '-e', `HOME=${cwd}`, '--cwd', cwd],
  ...[process.execPath, entry, 'mcp'],
];

/** Runs the inspector for one request; the process and the connection are its own each time. */
function inspect(
  target: readonly string[],
  method: readonly string[],
): { readonly status: number | null; readonly answer: unknown } {
  const args = [inspector, '--cli', ...target, '--format', 'json', '--quiet', '--method', ...method];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, env: environment, encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  return { status, answer: JSON.parse(stdout) };
}

function step(target: readonly string[], tool: string, args: JsonObject): StepAnswer {
  const called = inspect(target, ['tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args)]);
  const { result } = called.answer as { readonly result: { readonly structuredContent: unknown } };
  return guidedSchemas.continue.answer.parse(result.structuredContent);
}

describe('the official inspector', () => {
  it.each([
    ['signalbox mcp', () => [...stdio, '--protocol-era', 'legacy']],
    ['signalbox serve at /mcp/agent', () => [...http, '--protocol-era', 'modern']],
  ] as const)('walks a workflow to its end with %s', (_name, target) => {
    let answer = step(target(), 'start_workflow', { workflowId: 'project.two' });
    const seen: (string | undefined)[] = [];
    while (answer.nextCall !== null) {
      seen.push(answer.pending?.stepId);
      const output = { notesMarkdown: 'Looked, and wrote it down.' };
      answer = step(target(), answer.nextCall.tool, { ...(answer.nextCall.arguments as JsonObject), output });
    }
    expect([seen, answer.isComplete, answer.workflow.workflowId]).toEqual([['one', 'two'], true, 'project.two']);
  });

  it('finds no fault in the schemas of the tools', () => {
    const { status, answer } = inspect(http, ['tools/list', '--strict']);
    expect([status, JSON.stringify(answer)]).toEqual([0, expect.stringContaining('"continue_workflow"')]);
  });
});
