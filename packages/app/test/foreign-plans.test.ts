import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import path from 'node:path';
import { err, failure, type RunId } from '@signalbox/model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBundle } from '../src/bundles/open-bundle.ts';
import { verifyBundle } from '../src/bundles/verify-bundle.ts';
import { takeUp } from '../src/host/take-up.ts';
import { thisMachine } from '../src/machine.ts';
import { verifyBundleReplay, verifyRunReplay } from '../src/replay/verify-replay.ts';
import { openTestHost, planText, type TestHost } from './support/open-host.ts';
import { temporaryFolder } from './temporary-folder.ts';

const machine = thisMachine();
const folder = temporaryFolder();
/** Left by the plan wherever its code is run unconfined. */
const trace = path.join(folder, 'trace');
const bundle = path.join(folder, 'foreign.bundle');
const home = mkdtempSync(path.join(homedir(), '.signalbox-test-'));
const secret = path.join(home, 'secret');
let calls = 0;
const server = createServer(socket => {
  calls += 1;
  socket.destroy();
});
let first: TestHost;
let origin: RunId;

/** Writes, reads what is in a home, and calls out, when it is loaded; waits for a person. */
const foreign = (port: number) =>
  planText(
    '<Task id="a" run={() => 1} /><Human id="b" prompt="Go on?" />',
    'z.object({ n: z.number().default(0) })',
    `import { existsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
try { writeFileSync(${JSON.stringify(trace)}, ''); } catch {}
if (existsSync(${JSON.stringify(secret)})) throw new Error('home can be seen');
await new Promise(resolve => connect(${port}, '127.0.0.1').once('error', resolve).once('close', resolve));`,
  );

beforeAll(async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  first = await openTestHost(folder, { threads: { threads: 1 } });
  origin = await first.start('foreign', foreign(port));
  await first.end(origin);
  const exported = await first.host.bundles.export(origin, bundle);
  if (!exported.ok) throw new Error(exported.error.message);
  writeFileSync(secret, '');
  rmSync(trace);
  calls = 0;
});
afterAll(async () => {
  await first.close();
  server.close();
  rmSync(home, { recursive: true });
});

const noSandbox = async () =>
  err(failure('tool/sandbox-missing', { message: 'there is no sandbox here', suggestion: 'Install one.' }));
const FOREIGN = { ok: false, error: { code: 'run/foreign-plan' } };

/** Whether its code was run where it can do harm. */
const wasRun = () => existsSync(trace) || calls > 0;

describe('the bundle of somebody else', () => {
  it('[A284] is replayed in a process without network, home and a place to write', async () => {
    expect(await verifyBundleReplay(bundle, { machine })).toMatchObject({ ok: true, value: { ok: true, run: origin } });
    expect(wasRun()).toBe(false);
  });

  it('[A284] is not replayed where there is no sandbox', async () => {
    const refused = await verifyBundleReplay(bundle, { machine, detect: noSandbox });
    expect(refused).toMatchObject({
      ok: false,
      error: { code: 'run/foreign-plan', message: expect.stringContaining('no sandbox') },
    });
    expect(wasRun()).toBe(false);
  });

  it('[A284] that is damaged is told by its own name', async () => {
    const broken = path.join(folder, 'broken "1".bundle');
    writeFileSync(broken, 'no bundle');
    expect(await verifyBundleReplay(broken, { machine })).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining(broken) },
    });
  });

  it('[A286] is verified and viewed without running any of it', async () => {
    expect(await verifyBundle(bundle)).toMatchObject({ ok: true, value: { ok: true } });
    const opened = await openBundle(bundle);
    if (!opened.ok) throw new Error(opened.error.message);
    const { frames = 0 } = (await opened.value.archive.run(opened.value.run)) ?? {};
    for (let frame = 0; frame < frames; frame++) {
      expect(await opened.value.archive.frame(opened.value.run, frame)).toBeDefined();
    }
    opened.value.close();
    expect(wasRun()).toBe(false);
  });

  it('[A284] is replayed unconfined for whoever trusts it', async () => {
    rmSync(secret);
    expect(await verifyBundleReplay(bundle, { machine, trust: true, detect: noSandbox })).toMatchObject({
      value: { ok: true },
    });
    expect(existsSync(trace)).toBe(true);
    rmSync(trace);
    calls = 0;
    writeFileSync(secret, '');
  });
});

describe('a run that was imported', () => {
  it('[A285] runs no code of its plan before a person trusts it, and does from then on', async () => {
    const elsewhere = temporaryFolder();
    const { host, store, close, end } = await openTestHost(elsewhere, {
      threads: { threads: 1 },
      resumeOnAnswer: true,
    });
    const imported = await host.bundles.import({ file: bundle, anyFile: true }, 'ada');
    if (!imported.ok) throw new Error(imported.error.message);
    const { run } = imported.value;
    const data = path.join(elsewhere, 'data');
    const at = { kind: 'frame', frame: 0 } as const;
    expect(await host.resume(run)).toMatchObject(FOREIGN);
    expect(await host.resume(run, { useCurrent: true, anyFile: true })).toMatchObject(FOREIGN);
    expect(await host.fork(run, { at, anyFile: true }, 'ada')).toMatchObject(FOREIGN);
    expect(await host.act(run, { kind: 'retry', node: 'a' }, 'ada')).toMatchObject(FOREIGN);
    expect(await host.act(run, { kind: 'signal', name: 'x', payload: null }, 'ada')).toMatchObject(FOREIGN);
    expect(await host.act(run, { kind: 'edit', key: 'n', value: 1, reason: 'x' }, 'ada')).toMatchObject(FOREIGN);
    const [asked] = await store.decisions({ run, status: ['open'] });
    const resolution = { resolutionType: 'approve', rationale: '', actionKind: 'review' } as never;
    await host.answer(asked?.decision.id ?? ('' as never), { resolution }, 'ada');
    expect(await takeUp(host)).toEqual([]);
    const fork = await host.fork(run, { at, paused: true, acceptEffects: true, anyFile: true }, 'ada');
    if (!fork.ok) throw new Error(fork.error.message);
    expect(await host.resume(fork.value)).toMatchObject(FOREIGN);
    expect(await verifyRunReplay(data, run, { machine, detect: noSandbox })).toMatchObject(FOREIGN);
    expect(wasRun()).toBe(false);
    expect(await verifyRunReplay(data, run, { machine })).toMatchObject({ value: { ok: true } });
    expect(wasRun()).toBe(false);

    rmSync(secret);
    expect(await host.resume(run, { trust: true, anyFile: true, by: 'ada' })).toMatchObject({ ok: true });
    await end(run);
    const trusted = (await store.events(run, 0, 1000)).map(({ event }) => event);
    expect(trusted).toContainEqual(expect.objectContaining({ type: 'operator.acted', action: 'trust', by: 'ada' }));
    expect(await host.resume(fork.value, { anyFile: true })).toMatchObject({ ok: true });
    await end(fork.value);

    // The word of one person is nobody else's.
    const again = path.join(elsewhere, 'again.bundle');
    await host.bundles.export(run, again);
    const second = await host.bundles.import({ file: again, anyFile: true }, 'bob');
    const copy = second.ok ? second.value.run : ('' as RunId);
    expect(await host.fork(copy, { at, anyFile: true }, 'bob')).toMatchObject(FOREIGN);
    const third = await host.bundles.import({ file: again, anyFile: true, trust: true }, 'bob');
    expect(
      await host.fork(third.ok ? third.value.run : copy, { at, acceptEffects: true, anyFile: true }, 'bob'),
    ).toMatchObject({
      ok: true,
    });
    await close();
  });
});
