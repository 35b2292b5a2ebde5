import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RunId } from '@signalbox/model';
import { openArchive } from '@signalbox/store';
import { afterEach, describe, expect, it } from 'vitest';
import { exportRun } from '../src/bundles/export-run.ts';
import { importRun } from '../src/bundles/import-run.ts';
import { verifyBundle } from '../src/bundles/verify-bundle.ts';
import { thisMachine } from '../src/machine.ts';
import { verifyBundleReplay, verifyRunReplay } from '../src/replay/verify-replay.ts';
import { filterOf } from '../src/secrets/open-secrets.ts';
import { openTestHost, planText, type TestHost } from './support/open-host.ts';
import { temporaryFolder } from './temporary-folder.ts';

const machine = thisMachine();
const opened: TestHost[] = [];
async function open(folder: string): Promise<TestHost> {
  const host = await openTestHost(folder, { threads: { threads: 1 } });
  opened.push(host);
  return host;
}
afterEach(async () => {
  for (const host of opened.splice(0)) await host.close();
});

/** Three phases and a sub-plan. The words are what a version is known by; with the bug the render throws after the first. */
const plan = (words: string, hasBug = false) =>
  planText(
    `${hasBug ? "{ctx.state.get('log').length === 1 ? (() => { throw new Error('a bug'); })() : null}" : ''}
     <Phase name="one"><Task id="one" label="${words}" run={() => 'one'} onFinished={text => ctx.state.update('log', log => [...log, text + words])} /></Phase>
     <Phase name="below"><SubPlan id="sub" plan={child} onFinished={out => ctx.state.update('log', log => [...log, out.said])} /></Phase>
     <Phase name="ask"><Human id="ask" prompt="Go on?" /></Phase>
     <Phase name="end"><Task id="end" run={() => 'end'} onFinished={text => ctx.state.update('log', log => [...log, text + words])} /></Phase>`,
    'z.object({ log: z.array(z.string()).default([]) })',
    `import { words } from './words.ts';
     const child = definePlan({ name: 'child', state: z.object({ said: z.string().optional() }), render: ctx =>
       <><Phase name="a"><Task id="inner" label={words} run={() => words} onFinished={text => ctx.state.set('said', text)} /></Phase>
       <Phase name="b"><Human id="inside" prompt="Below?" /></Phase></> });`,
  );

async function answerAll({ host, store }: TestHost, run: RunId): Promise<void> {
  const runs = [run, ...(await store.children(run)).map(({ id }) => id)];
  for (const of of runs) {
    for (const { decision } of await store.decisions({ run: of, status: ['open'] })) {
      const resolution = { resolutionType: 'approve', rationale: 'fine', actionKind: 'review' } as const;
      expect(await host.answer(decision.id, { resolution }, 'ada')).toMatchObject({ ok: true });
    }
  }
}

async function versionsOf({ store }: TestHost, run: RunId): Promise<readonly number[]> {
  return (await store.frames(run, 0, 100)).map(({ planVersion = 1 }) => planVersion);
}

const write = (folder: string, text: string, words: string) => {
  writeFileSync(path.join(folder, 'plan.tsx'), text);
  writeFileSync(path.join(folder, 'words.ts'), `export const words = '${words}';\n`);
};

/** A run that went on with three versions of its plan: it failed in the first and waited in the second. */
async function mended(folder: string) {
  write(folder, plan('A', true), 'A');
  const test = await open(folder);
  const run = await test.start('plan', plan('A', true));
  expect(await test.end(run)).toMatchObject({ status: 'failed', error: { code: 'plan/render-failed' } });

  write(folder, plan('B'), 'B');
  expect(await test.host.resume(run, { useCurrent: true })).toMatchObject({ ok: true });
  expect(await test.end(run)).toMatchObject({ status: 'waiting' });
  await answerAll(test, run);

  write(folder, plan('C'), 'C');
  expect(await test.host.resume(run, { useCurrent: true })).toMatchObject({ ok: true });
  expect(await test.end(run)).toMatchObject({ status: 'waiting' });
  return { test, run };
}

async function finished({ test, run }: { readonly test: TestHost; readonly run: RunId }): Promise<object> {
  await answerAll(test, run);
  expect(await test.host.resume(run)).toMatchObject({ ok: true });
  return test.end(run);
}

describe('a run that goes on with changed files', () => {
  it('[A162] keeps every version of its plan; each frame names the one that made it, and the next resume uses the newest', async () => {
    const folder = temporaryFolder();
    const { test, run } = await mended(folder);
    rmSync(path.join(folder, 'plan.tsx'));
    rmSync(path.join(folder, 'words.ts'));
    // The first task is as it was committed; the last is of the newest version.
    expect(await finished({ test, run })).toEqual({ status: 'completed', output: { log: ['oneA', 'B', 'endC'] } });

    const record = await test.store.run(run);
    expect(record?.earlierPlans).toHaveLength(2);
    const versions = await versionsOf(test, run);
    expect([...new Set(versions)]).toEqual([1, 2, 3]);
    expect(versions).toEqual(versions.toSorted());
    const [child] = await test.store.children(run);
    expect(child?.earlierPlans).toHaveLength(1);
    expect([...new Set(await versionsOf(test, child?.id as RunId))]).toEqual([1, 2]);
  });

  it('[A162] with the same files has no other version, and files that do not load change nothing', async () => {
    const folder = temporaryFolder();
    const { test, run } = await mended(folder);
    const before = await test.store.run(run);
    writeFileSync(path.join(folder, 'plan.tsx'), 'export default <');
    expect(await test.host.resume(run, { useCurrent: true })).toMatchObject({ error: { code: 'plan/load-failed' } });
    expect(await test.store.run(run)).toEqual(before);
    write(folder, plan('C'), 'C');
    expect(await test.host.resume(run, { useCurrent: true })).toMatchObject({ ok: true });
    expect(await test.end(run)).toMatchObject({ status: 'waiting' });
    expect((await test.store.run(run))?.earlierPlans).toHaveLength(2);
  });

  it('[A163] is verified across its versions, in its data directory, as a bundle and imported', async () => {
    const folder = temporaryFolder();
    const whole = await mended(folder);
    await finished(whole);
    const { test, run } = whole;
    const verdict = await verifyRunReplay(path.join(folder, 'data'), run, { machine });
    expect(verdict).toMatchObject({ ok: true, value: { ok: true, runs: [{ name: 'test' }, { name: 'child' }] } });

    const file = path.join(folder, 'run.bundle');
    const archive = openArchive({ path: path.join(folder, 'data', 'db.sqlite') });
    if (!archive.ok) throw new Error(archive.error.message);
    const { clock } = machine;
    const done = await exportRun(
      { archive: archive.value, clock, appVersion: '1', secrets: filterOf(undefined) },
      run,
      file,
    );
    archive.value.close();
    expect(done).toMatchObject({ ok: true });
    await test.close();
    opened.splice(0);
    expect(await verifyBundle(file)).toMatchObject({ ok: true, value: { ok: true } });
    expect(await verifyBundleReplay(file, { machine })).toMatchObject({ ok: true, value: { ok: true } });

    const elsewhere = temporaryFolder();
    const other = await open(elsewhere);
    const imported = await importRun(
      { store: other.store, dataDirectory: path.join(elsewhere, 'data'), machine, by: 'tester' },
      file,
    );
    if (!imported.ok) throw new Error(imported.error.message);
    expect((await other.store.run(imported.value.run))?.earlierPlans).toHaveLength(2);
    expect(await verifyRunReplay(path.join(elsewhere, 'data'), imported.value.run, { machine })).toMatchObject({
      ok: true,
      value: { ok: true },
    });
  });

  it('[A163] whose record names another version for a frame is found out', async () => {
    const folder = temporaryFolder();
    const { test, run } = await mended(folder);
    const versions = await versionsOf(test, run);
    const last = versions.length - 1;
    await test.close();
    opened.splice(0);
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(path.join(folder, 'data', 'db.sqlite'));
    const { changes } = database
      .prepare(`update frames set frame = json_remove(frame, '$.planVersion')
        where place % (1 << 28) = ? and frame ->> '$.planVersion' = 3`)
      .run(last);
    expect(changes).toBe(1);
    database.close();
    expect(await verifyRunReplay(path.join(folder, 'data'), run, { machine })).toMatchObject({
      ok: true,
      value: { ok: false, runs: [{ difference: { frame: last, kind: 'record' } }, {}] },
    });
  });

  it('[A164] is forked with the version that made the frame', async () => {
    const folder = temporaryFolder();
    const { test, run } = await mended(folder);
    const frame = (await versionsOf(test, run)).lastIndexOf(2);
    const forked = await test.host.fork(run, { at: { kind: 'frame', frame }, paused: true }, 'ada');
    if (!forked.ok) throw new Error(forked.error.message);
    const [parent, fork] = [await test.store.run(run), await test.store.run(forked.value)];
    expect(fork?.source).toEqual(parent?.earlierPlans?.[1]);
    expect(fork?.earlierPlans).toBeUndefined();
    expect(await test.host.resume(forked.value)).toMatchObject({ ok: true });
    await test.end(forked.value);
    expect(new Set(await versionsOf(test, forked.value))).toEqual(new Set([1]));
  });
});
