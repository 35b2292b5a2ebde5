import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { EMPTY_HEAD, type RunId } from '@signalbox/model';
import type { Store } from '@signalbox/store';
import { startChild } from '@signalbox/testkit';

import { describe, expect, it } from 'vitest';
import { childScript } from '../../../../test/child-script.ts';
import { isChained } from '../../../runs/test/log-chain.ts';
import { createRunLogWriter } from '../../src/logs/run-log-writer.ts';
import { finishTaking } from '../../src/redact/finish-taking.ts';
import { secretSearch } from '../../src/redact/secret-files.ts';
import { deriveJournal } from '../../src/run-journal/derive-journal.ts';
import { rewriteJournal } from '../../src/run-journal/rewrite-journal.ts';
import { verifyRun } from '../../src/run-journal/verify-run.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { deskOf, ENDED, endedRun, filesOf, machineAt, makeOld, storeIn } from './support.ts';

const CHILD = childScript(import.meta.dirname, 'collect-child.ts');
const gc = { dryRun: false, by: 'anna' };

async function report(desk: ReturnType<typeof deskOf>, dryRun = false) {
  const done = await desk.collect({ ...gc, dryRun });
  if (!done.ok) throw new Error(done.error.message);
  return done.value;
}

describe('a collection', () => {
  it('[A90] says what would go, takes exactly that, and then finds nothing more', async () => {
    const home = temporaryFolder();
    const store = storeIn(home);
    const run = await endedRun(store, home, 'a');
    makeOld(home);
    const files = filesOf(home);
    expect(files).toHaveLength(3);
    expect(await report(deskOf(store, home, 29))).toMatchObject({ runs: [], collapsed: [], bytes: 0 });

    const would = await report(deskOf(store, home, 30), true);
    expect(would.collapsed).toEqual([{ run, name: 'a', frames: 4, bytes: expect.any(Number) }]);
    const did = await report(deskOf(store, home, 30));
    expect({ ...did, dryRun: true }).toEqual(would);
    expect((await store.run(run))?.collected).toEqual([{ from: 1, to: 4 }]);
    expect(filesOf(home)).toEqual(files);

    const wouldGo = await report(deskOf(store, home, 90), true);
    expect(wouldGo).toMatchObject({
      runs: [{ run, name: 'a', bytes: expect.any(Number) }],
      folders: { count: 2, bytes: 6 },
      blobs: { count: 1, bytes: 70_002 },
    });
    expect(await store.run(run)).toBeDefined();
    const went = await report(deskOf(store, home, 90));
    expect({ ...went, dryRun: true }).toEqual(wouldGo);
    expect(went.bytes).toBeGreaterThan(70_008);
    expect(await store.run(run)).toBeUndefined();
    expect(filesOf(home)).toEqual([]);
    expect(await report(deskOf(store, home, 90))).toMatchObject({ runs: [], collapsed: [], bytes: 0 });
    store.close();
  });

  it('[A91] leaves kept runs alone, until they are not kept any more', async () => {
    const home = temporaryFolder();
    const store = storeIn(home);
    const run = await endedRun(store, home, 'a');
    makeOld(home);
    const desk = deskOf(store, home, 400);
    expect(await desk.keep(run, true, 'anna')).toMatchObject({ ok: true, value: { kept: { by: 'anna' } } });
    expect(await desk.keep(run, true, 'bert')).toMatchObject({ ok: true, value: { kept: { by: 'anna' } } });
    expect(await report(desk)).toMatchObject({ runs: [], collapsed: [], spared: [{ run, why: 'kept' }], bytes: 0 });
    await desk.keep(run, false, 'anna');
    const events = await store.events(run, 0, 100);
    expect(events.flatMap(({ event }) => (event.type === 'run.kept' ? [[event.kept, event.by]] : []))).toEqual([
      [true, 'anna'],
      [false, 'anna'],
    ]);
    expect((await report(desk)).runs).toMatchObject([{ run }]);
    expect(await desk.keep(run, true, 'anna')).toMatchObject({ ok: false, error: { code: 'run/unknown' } });
    store.close();
  });

  it('[A91] leaves alone what is driven, and what a fork needs', async () => {
    const home = temporaryFolder();
    const store = storeIn(home);
    const driven = await endedRun(store, home, 'a');
    const parent = await endedRun(store, home, 'b');
    await endedRun(store, home, 'c', { origin: { kind: 'fork', run: parent, frame: 3, head: EMPTY_HEAD } });
    makeOld(home);
    const desk = deskOf(store, home, 35, { driven: () => [driven] });
    expect((await report(desk)).collapsed.map(({ name }) => name)).toEqual(['b', 'c']);
    expect((await store.frames(parent, 0, 9)).map(({ index }) => index)).toEqual([0, 3, 5]);
    store.close();
  });

  it('[A92] is as the configuration says, and nothing goes where that cannot be understood', async () => {
    const home = temporaryFolder();
    const store = storeIn(home);
    const run = await endedRun(store, home, 'a');
    makeOld(home);
    const configure = (text: string) => writeFileSync(path.join(home, 'config.json'), text);
    for (const text of ['{', '[]', '{"retention": {"removeAfterDays": -1}}', '{"retention": {"days": 3}}']) {
      configure(text);
      expect(await deskOf(store, home, 400).collect(gc)).toMatchObject({
        ok: false,
        error: { code: 'VALIDATION_ERROR', message: expect.stringContaining('config.json') },
      });
    }
    configure('{"other": 1, "retention": {"removeAfterDays": null, "collapseAfterDays": null}}');
    expect(await report(deskOf(store, home, 400))).toMatchObject({ bytes: 0 });
    configure('{"retention": {"removeAfterDays": 2}}');
    expect((await report(deskOf(store, home, 2))).runs).toMatchObject([{ run }]);
    store.close();
  });

  it('[A93] keeps blobs that only files beside the database name, and those of sessions; workspaces go with their run', async () => {
    const home = temporaryFolder();
    const store = storeIn(home);
    const run = await endedRun(store, home, 'a');
    const put = await store.put(['x', 'y', 'z'].map(letter => Buffer.from(letter.repeat(99))));
    if (!put.ok) throw new Error(put.error.message);
    const [inUndo, inSession, loose] = put.value;
    mkdirSync(path.join(home, 'undo'));
    writeFileSync(path.join(home, 'undo', 'one.jsonl'), JSON.stringify({ before: inUndo }));
    makeOld(home);
    const discarded: RunId[] = [];
    const desk = deskOf(store, home, 90, {
      removeWorkspace: async (record, dryRun) => {
        if (!dryRun) discarded.push(record.id);
        return 10;
      },
      collectSessions: async ({ sweepBlobs }) => {
        await sweepBlobs(new Set([inSession as never]));
        return { ok: true, value: { count: 1, bytes: 5, untrusted: [] } };
      },
    });
    expect(await report(desk)).toMatchObject({
      workspaces: { count: 1, bytes: 10 },
      sessions: { count: 1, bytes: 5 },
      blobs: { count: 2 },
    });
    expect(discarded).toEqual([run]);
    expect(
      (await Promise.all([inUndo, inSession, loose].map(name => store.get(name as never)))).map(({ ok }) => ok),
    ).toEqual([true, true, false]);
    const spared = deskOf(store, home, 90, {
      collectSessions: async () => ({ ok: true, value: { count: 0, bytes: 0, untrusted: ['a journal is damaged'] } }),
    });
    expect(await report(spared)).toMatchObject({ blobs: { count: 0 }, blobsSpared: 'a journal is damaged' });
    store.close();
  });
});

describe('a collection whose process is killed', () => {
  it('[A94] leaves every run as it was or as it was to become; the next one takes the rest', async () => {
    const root = temporaryFolder();
    const template = path.join(root, 'template');
    mkdirSync(template);
    const store = storeIn(template);
    const runs: RunId[] = [];
    // Three go, three are collapsed.
    for (const name of 'abc') runs.push(await endedRun(store, template, name));
    for (const name of 'def') runs.push(await endedRun(store, template, name, { days: 5 }));
    for (const run of runs) expect(await deriveJournal(template, store, run)).toMatchObject({ ok: true });
    const config = { retention: { collapseAfterDays: 30, removeAfterDays: 39 } };
    store.close();
    writeFileSync(path.join(template, 'config.json'), JSON.stringify(config));
    makeOld(template);

    const whole = copyOf(template, path.join(root, 'whole'));
    const expected = await collected(whole);
    expect(expected).toMatchObject({ runs: [{ name: 'f' }, { name: 'e' }, { name: 'd', gone: [{ from: 1, to: 4 }] }] });

    const points = ['before', 'after'].flatMap(when => [1, 2, 3, 4, 5, 6].map(nth => [when, nth] as const));
    const all = [...points, ...[1, 2, 3, 4, 5, 6].map(nth => ['file', nth] as const)];
    const chosen = process.env.SIGNALBOX_SOAK === '1' ? all : all.filter((_, index) => index % 4 === 1);
    for (const [when, nth] of chosen) {
      const home = copyOf(template, path.join(root, `${when}-${nth}`));
      const { signal } = await startChild(CHILD, home, when, String(nth)).ended;
      expect(signal, `${when} ${nth}`).toBe('SIGKILL');
      const after = storeIn(home);
      for (const run of runs) expect(await isWhole(after, run), `${when} ${nth} ${run}`).toBe(true);
      after.close();
      expect(await collected(home), `${when} ${nth}`).toEqual(expected);
      for (const run of runs.slice(3)) {
        const taken = [{ kind: 'collapse', by: expect.any(String), records: [2, 3, 4, 5] }];
        expect(await verifyRun(home, run), `${when} ${nth}`).toMatchObject({ value: { ok: true, taken } });
      }
    }
  });
});

function copyOf(from: string, to: string): string {
  cpSync(from, to, { recursive: true });
  makeOld(to);
  return to;
}

/** The data directory after a complete collection. */
async function collected(home: string): Promise<object> {
  const store = storeIn(home);
  const rewrite = (run: RunId) => rewriteJournal(home, store, run);
  const ports = { store, dataDirectory: home, machine: machineAt(ENDED, 1), rewriteJournal: rewrite };
  const logs = createRunLogWriter({ reader: store, dataDirectory: home, clean: value => value });
  const derived = { ...logs, ...secretSearch(home), dropSearch: async () => {} };
  expect(await finishTaking({ ...ports, derived, secrets: { shared: { key: '' } } })).toMatchObject({ ok: true });
  await report(deskOf(store, home, 40));
  const { items } = await store.runs();
  const runs = items.map(({ id, name, status, collected: gone }) => ({ id, name, status, gone }));
  store.close();
  return { runs, files: filesOf(home) };
}

/** Not there at all, or there with its chain, and with all of its frames or those that it says. */
async function isWhole(store: Store, run: RunId): Promise<boolean> {
  const record = await store.run(run);
  const events = await store.events(run, 0, 1000);
  const frames = (await store.frames(run, 0, 100)).map(({ index }) => index);
  if (record === undefined) return events.length === 0 && frames.length === 0 && store.retention.weigh([run]) === 0;
  const large = await store.valueAt(run, 'state', 'large', 6);
  const told = record.collected === undefined ? [0, 1, 2, 3, 4, 5] : [0, 5];
  return (
    (await isChained(store, run)) &&
    large === record.name.repeat(70_000) &&
    JSON.stringify(frames) === JSON.stringify(told)
  );
}
