import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openAgentJobs, openAgentRegister } from '@signalbox/app/agents';
import { thisMachine } from '@signalbox/app/host';
import { createClient } from '@signalbox/client';
import type { WireAgent } from '@signalbox/model';
import { expect, it, onTestFinished } from 'vitest';
import { startBare } from './access/access-stage.ts';
import { memoryUsers } from './memory-users.ts';
import { scriptedHost } from './scripted-host.ts';

/** A server with agents of its own, and an npm that waits until it is told to go on. */
async function given() {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(tmpdir(), 'agents-')));
  const [dataDirectory, bin, go] = ['data', 'bin', 'go'].map(name => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  fs.mkdirSync(dataDirectory, { mode: 0o700 });
  fs.mkdirSync(bin);
  const mine = { command: ['/no/such/program'], title: 'Mine', mode: 'careful' };
  fs.writeFileSync(path.join(dataDirectory, 'config.json'), JSON.stringify({ agents: { mine } }));
  const waits = `while [ ! -e ${go} ]; do sleep 0.05; done; echo "npm error no registry" >&2; exit 1`;
  fs.writeFileSync(path.join(bin, 'npm'), `#!/bin/sh\n${waits}\n`, { mode: 0o755 });
  fs.writeFileSync(path.join(bin, 'qwen'), '#!/bin/sh\n', { mode: 0o755 });
  const env = { PATH: `${bin}:/usr/bin:/bin`, OPENAI_API_KEY: 'sk-never-shown' };
  const register = openAgentRegister({ dataDirectory, env });
  const server = await startBare({
    host: scriptedHost(),
    token: 'the-owner',
    users: memoryUsers({ 'an-operator': { name: 'oscar', role: 'operator' } }),
    agents: openAgentJobs({ dataDirectory, env, register, machine: thisMachine() }),
  });
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= server.close());
  onTestFinished(async () => {
    await close();
    fs.rmSync(folder, { recursive: true });
  });
  const [owner, operator] = ['the-owner', 'an-operator'].map(token => createClient({ url: server.url, token })) as [
    Client,
    Client,
  ];
  const agent = async (id: string): Promise<WireAgent | undefined> => {
    const listed = await owner.agents();
    return listed.ok ? listed.value.agents.find(one => one.id === id) : undefined;
  };
  const places = () => fs.readdirSync(path.join(dataDirectory, 'agents'));
  return { owner, operator, agent, places, close, go: () => fs.writeFileSync(go, '') };
}
type Client = ReturnType<typeof createClient>;

it('[V324] lists what is known about each agent, and no key', async () => {
  const { owner, agent } = await given();
  expect(await agent('qwen')).toEqual({
    id: 'qwen',
    title: 'Qwen Code',
    vendor: 'any',
    package: { name: '@qwen-code/qwen-code', version: expect.any(String) },
    installed: { version: 'unknown', from: 'PATH' },
    isTried: false,
    asking: { kind: 'mode', mode: 'default' },
    reports: { usage: false, cost: false },
    quirks: expect.any(Array),
  });
  expect(await agent('claude')).not.toHaveProperty('installed');
  expect(await agent('mine')).toMatchObject({
    title: 'Mine',
    asking: { kind: 'mode', mode: 'careful' },
    missing: 'The program "/no/such/program" was not found.',
  });
  expect(JSON.stringify(await owner.agents())).not.toContain('sk-never-shown');
});

it('[V325] [V326] begins a job that goes on without its caller, and ends it', async () => {
  const { owner, operator, agent, go, places } = await given();
  expect(await operator.addAgent('gemini')).toMatchObject({ ok: false, error: { code: 'request/forbidden' } });
  expect(await operator.removeAgent('gemini')).toMatchObject({ ok: false, error: { code: 'request/forbidden' } });
  expect(await owner.addAgent('gemini')).toMatchObject({ ok: true, value: { job: { kind: 'add', by: 'operator' } } });
  expect(await owner.removeAgent('gemini')).toMatchObject({ ok: false, error: { code: 'agent/busy' } });
  expect(await operator.cancelAgentJob('gemini')).toMatchObject({ ok: true });
  expect(await agent('gemini')).not.toHaveProperty('job');
  expect(places()).toEqual([]);
  go();
  await owner.addAgent('gemini');
  let last = await agent('gemini');
  while (last?.job !== undefined) last = await agent('gemini');
  expect(last?.problem).toMatchObject({ kind: 'add', message: expect.stringContaining('npm failed: no registry') });
  expect(await operator.checkAgent('gemini')).toMatchObject({ ok: false, error: { code: 'agent/not-installed' } });
  expect(await owner.removeAgent('gemini')).toMatchObject({ ok: false, error: { code: 'agent/not-installed' } });
  expect(await owner.addAgent('nobody')).toMatchObject({ ok: false, error: { code: 'agent/unknown' } });
});

it('[V327] cancels every job when it closes', async () => {
  const { owner, places, close } = await given();
  await owner.addAgent('gemini');
  await owner.addAgent('codex');
  await close();
  expect(places()).toEqual([]);
});
