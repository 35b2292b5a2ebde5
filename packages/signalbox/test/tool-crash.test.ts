import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { entry, ownEnvironment, signalbox, temporaryFolder } from './program.ts';

const folder = temporaryFolder();
const data = ['--data-dir', path.join(folder, 'data')];
/** Beside the directory of the run: nothing of it changes meanwhile. */
const go = path.join(temporaryFolder(), 'go');
const call = (...args: readonly string[]) => signalbox([...args, ...data], { cwd: folder });
const lines = (...args: readonly string[]) =>
  call(...args, '--json')
    .stdout.split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line));

/** Answers calls only once the file `answers` is there. */
const SERVER = `
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
const say = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
const inputSchema = { type: 'object', properties: {} };
const tools = [{ name: 'look', description: 'Looks.', inputSchema, annotations: { readOnlyHint: true } }, { name: 'send', description: 'Sends.', inputSchema }];
createInterface({ input: process.stdin }).on('line', async line => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'slow', version: '1' } });
  if (method === 'tools/list') say(id, { tools });
  if (method !== 'tools/call') return;
  if (!existsSync('answers')) return;
  say(id, { content: [{ type: 'text', text: 'answered' }] });
});`;

const agent = (name: string, more: string) =>
  `<Agent id="${name}" model="scripted:${name}.json" cwd="." prompt="Do it." retries={0} ${more} />`;
const PLAN = `
import { existsSync } from 'node:fs';
import { Agent, definePlan, Parallel, tool } from 'signalbox';
import * as z from 'zod';
const wait = async () => { while (!existsSync(${JSON.stringify(go)})) await new Promise(end => setTimeout(end, 20)); };
const note = tool({ name: 'note', description: 'Notes.', input: z.object({}), effects: 'files',
  run: async (_, { files }) => { await files.write('note.txt', 'half'); await wait(); await files.write('note.txt', 'whole'); return 'noted'; } });
const order = tool({ name: 'order', description: 'Orders.', input: z.object({}), effects: 'external', run: async () => { await wait(); return 'ordered'; } });
const mcp = [{ command: [${JSON.stringify(process.execPath)}, 'server.mjs'], prefix: 's', allow: ['look', 'send'] }];
export default definePlan({ name: 'calls', render: () => <Parallel>
  ${agent('note', 'tools={[note]}')}
  ${agent('order', 'tools={[order]}')}
  ${agent('s_look', 'tools={[]} mcp={mcp}')}
  ${agent('s_send', 'tools={[]} mcp={mcp}')}
</Parallel> });`;

it.skipIf(process.platform !== 'linux')(
  '[A1270] a kill in the middle of calls of own and MCP tools: what can be undone is repeated, what is outside is unknown and not',
  async () => {
    mkdirSync(path.join(folder, 'data'), { mode: 0o700 });
    writeFileSync(path.join(folder, 'data/config.json'), JSON.stringify({ commands: { allowUnconfined: true } }));
    writeFileSync(path.join(folder, 'server.mjs'), SERVER);
    writeFileSync(path.join(folder, 'plan.tsx'), PLAN);
    for (const tool of ['note', 'order', 's_look', 's_send']) {
      const rules = [{ when: { turn: 1 }, text: 'I call it.', calls: [{ tool, input: {} }] }, { text: 'Done.' }];
      writeFileSync(path.join(folder, `${tool}.json`), JSON.stringify({ version: 1, rules }));
    }
    const first = spawn(process.execPath, [entry, 'run', 'plan.tsx', '--no-lint', ...data], {
      ...{ cwd: folder, stdio: 'ignore' },
      env: ownEnvironment(folder),
    });
    const ended = new Promise(resolve => first.once('exit', resolve));
    const calls = (type: string) =>
      lines('events', '@last').flatMap(({ event }) =>
        event.type === type ? [`${event.tool} ${event.outcome ?? ''}`.trim()] : [],
      );
    const until = async <T>(found: () => T | undefined): Promise<T> => {
      for (;;) {
        if (first.exitCode !== null) throw new Error(`the run has ended: ${JSON.stringify(lines('why', '@last'))}`);
        const value = found();
        if (value !== undefined) return value;
        await new Promise(resolve => setTimeout(resolve, 50));
      }
    };
    // What has effects outside waits for a person.
    const asked = await until(() => {
      const open = lines('decisions').flat() as { decision: { id: string } }[];
      return open.length === 2 ? open : undefined;
    });
    for (const { decision } of asked) expect(call('approve', decision.id)).toMatchObject({ status: 0 });
    await until(() =>
      existsSync(path.join(folder, 'note.txt')) && calls('call.began').length === 4 ? true : undefined,
    );
    expect(readFileSync(path.join(folder, 'note.txt'), 'utf8')).toBe('half');
    first.kill('SIGKILL');
    await ended;

    writeFileSync(go, '');
    writeFileSync(path.join(folder, 'answers'), '');
    const resumed = call('resume', '@last');
    expect(resumed, resumed.stderr).toMatchObject({ status: 0 });
    expect(readFileSync(path.join(folder, 'note.txt'), 'utf8')).toBe('whole');
    expect(resumed.stderr).toMatch(/order [^\n]*may or may not have happened/);
    expect(calls('call.ended').sort()).toEqual([
      'note succeeded',
      'order unknown',
      's_look succeeded',
      's_send unknown',
    ]);
  },
);
