import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Home, type HomeOptions, openHome, thisMachine } from '@signalbox/app/host';
import type { RunId } from '@signalbox/model';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openLastingOwner } from '../src/owner/lasting-owner.ts';
import { type OwnServer, startOwnServer } from '../src/serving/own-server.ts';

const PLAN = `
import { definePlan, Task } from 'signalbox';
export default definePlan({ name: 'quick', render: () => <Task id="a" run={() => 1} /> });
`;
const agents: NonNullable<HomeOptions['agents']> = {
  run: async () => ({ kind: 'failed', error: { class: 'terminal', code: 'no-agents', message: 'There are none.' } }),
};

/** A process that owns a data directory and serves it, and a program that wants something of it. */
async function stage() {
  const folder = mkdtempSync(path.join(tmpdir(), 'lasting-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'plan.tsx');
  writeFileSync(file, PLAN);
  const dataDirectory = path.join(folder, 'data');
  const machine = thisMachine();
  const home = await openHome({ dataDirectory, machine, env: {}, agents, threads: { threads: 1 } });
  if (!home.ok) throw new Error(home.error.message);
  const server = await startOwnServer({ home: home.value, directory: dataDirectory, machine, port: 0 });
  if (!server.ok) throw new Error(server.error.message);
  let owned = 0;
  const opened = await openLastingOwner({ dataDirectory, machine, env: {} }, () => {
    owned += 1;
  });
  if (!opened.ok) throw new Error(opened.error.message);
  const owner = opened.value;
  onTestFinished(() => owner.close());
  const request = { file, anyFile: true, input: {} };
  return { home: home.value, server: server.value, owner, request, owned: () => owned };
}

async function end(home: Home, server: OwnServer): Promise<void> {
  await server.close();
  await home.close();
}

describe('a command whose owner is ending', () => {
  it('[A917] is refused by that owner and carried out by the next one, which is this process', async () => {
    const { home, server, owner, request, owned } = await stage();
    expect([owner.isLocal, owned()]).toEqual([false, 0]);
    await home.host.endOnceIdle(() => {});
    expect(await home.host.start(request)).toMatchObject({
      error: { code: 'store/ending', retry: { kind: 'retryable_after_ms' } },
    });
    const starting = owner.start(request);
    await end(home, server);
    const started = await starting;
    if (!started.ok) throw new Error(started.error.message);
    await owner.rested(started.value);
    expect((await owner.reader.run(started.value))?.status).toBe('completed');
    expect((await owner.reader.runs()).items).toHaveLength(1);
    expect([owner.isLocal, owned()]).toEqual([true, 1]);
  });

  it('[A917] is carried out by the next one if nobody listens any more, whatever the command', async () => {
    const { home, server, owner } = await stage();
    await server.close();
    const unknown = '01890000-0000-7000-8000-00000000dead' as RunId;
    const acting = [
      owner.act(unknown, { kind: 'pause' }),
      owner.resume(unknown, {}),
      owner.fork(unknown, { at: { kind: 'frame', frame: 0 } }),
      owner.keep(unknown, true),
    ];
    await home.close();
    expect((await Promise.all(acting)).map(done => !done.ok && done.error.code)).toEqual(Array(4).fill('run/unknown'));
    expect(owner.isLocal).toBe(true);
  });

  it('[A917] that was taken before is waited for', async () => {
    const { home, server, request } = await stage();
    const starting = home.host.start(request);
    const told: number[] = [];
    await home.host.endOnceIdle(count => told.push(count));
    const started = await starting;
    if (!started.ok) throw new Error(started.error.message);
    expect((await home.host.reader.run(started.value))?.status).toBe('completed');
    expect(told).toEqual([1]);
    await end(home, server);
  });
});
