import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { hostDisk, nodeHasher } from '@signalbox/journal';
import type { EventId, Json, RunId } from '@signalbox/model';
import { changeBetween, type IntervalSpace, openRecord } from '@signalbox/runs';
import { openArchive, openBlobFiles, openRepair, type Store } from '@signalbox/store';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { at, frame, freshId, interval, newRun, set, startRun } from '../../runs/test/builders.ts';
import { isChained } from '../../runs/test/log-chain.ts';
import { checkRun, type LogCheck } from '../src/verify/check-run.ts';
import { databaseOf } from './support/database-file.ts';
import { type Kept, logOf, resealed, writeLog } from './support/forged-logs.ts';
import { longRun } from './support/long-runs.ts';
import { collapse, FORMS, filter, redact, SECRET, secretRun } from './support/secret-runs.ts';
import { opened, temporaryHome } from './support/stores.ts';
import { everyAnswer, variedRun } from './support/varied-runs.ts';

function checked(home: string, run: RunId): LogCheck {
  const archive = openArchive({ path: databaseOf(home) });
  if (!archive.ok) throw new Error(archive.error.message);
  const check = archive.value.check(run);
  archive.value.close();
  if (check === undefined) throw new Error(`no run ${run}`);
  return check;
}

/** Changes the log without our knowledge. */
function attacked(home: string, change: (log: readonly Kept[]) => readonly Kept[]): void {
  const database = new DatabaseSync(databaseOf(home));
  writeLog(database, 1, change(logOf(database, 1)));
  database.close();
}

const spaces: readonly IntervalSpace[] = ['node', 'status', 'state', 'read'];
async function shownIn(store: Store, run: RunId, index: number): Promise<Json> {
  const parts = await Promise.all(spaces.map(space => store.at(run, space, index)));
  return parts.map(part => Object.fromEntries([...part].sort())) as Json;
}

/** Where any form of the secret is: in files below a folder, of blobs or of the database that is closed. */
function placesOf(home: string, forms: readonly string[] = FORMS): readonly string[] {
  return readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(name => {
    const file = path.join(home, name);
    if (!statSync(file).isFile()) return false;
    const content = readFileSync(file);
    return forms.some(form => content.includes(form));
  });
}

describe('a run that was collapsed', () => {
  it('[D300] lost the bodies of collected frames from its log, and says so when it is checked', async () => {
    const home = temporaryHome();
    const store = opened(home);
    const { run } = await longRun(store, 'growing list', 30);
    const before = await store.records(run, 0, 1000);
    const head = (await store.run(run))?.head ?? '';
    const shown = await Promise.all([0, 29, 30].map(index => shownIn(store, run, index)));
    const { records, bytes } = collapse(store, run);
    const after = await store.records(run, 0, 1000);
    const length = (log: typeof before) => log.reduce((sum, { body }) => sum + body.length, 0);
    expect(bytes).toBeGreaterThan(length(before) / 3);
    expect(length(after.slice(0, before.length))).toBe(length(before) - bytes);
    expect(after.slice(0, before.length).map(({ header, hash }) => ({ header, hash }))).toEqual(
      before.map(({ header, hash }) => ({ header, hash })),
    );
    expect(await Promise.all([0, 29, 30].map(index => shownIn(store, run, index)))).toEqual(shown);
    expect(await isChained(store, run)).toBe(true);
    store.close();
    const check = checked(home, run);
    expect(check.defects).toEqual([]);
    expect(check.heads.has(head)).toBe(true);
    expect(check.taken).toEqual([
      { kind: 'collapse', record: before.length, at: at(19), by: 'gc', why: 'it is old', records },
    ]);
  });

  it('[D301] answers every event that went as gone, by its number, and the others as they were', async () => {
    const store = opened(temporaryHome());
    const run = await variedRun(store, 1);
    const before = await store.events(run, 0, 1000);
    collapse(store, run);
    const after = await store.events(run, 0, 1000);
    expect(after.slice(0, before.length).map(({ event, hash }) => [event.seq, hash])).toEqual(
      before.map(({ event, hash }) => [event.seq, hash]),
    );
    const gone = after.filter(({ event }) => event.type === 'event.gone').map(({ event }) => event.seq);
    expect(gone.length).toBeGreaterThan(0);
    for (const [seq, { event }] of before.entries()) {
      if (!gone.includes(seq)) expect(after[seq]?.event).toEqual(event);
    }
    expect(await store.events(run, gone[0] ?? 0, 1)).toEqual([after[gone[0] ?? 0]]);
    store.close();
  });
});

describe('a body that was taken away', () => {
  it('[D302] without a record that says so is found and named, and so is one that is back', async () => {
    const home = temporaryHome();
    const store = opened(home);
    const { run } = await longRun(store, 'iterations', 8);
    const whole = new DatabaseSync(databaseOf(home), { readOnly: true });
    const old = logOf(whole, 1);
    whole.close();
    const { records } = collapse(store, run);
    store.close();
    const n = records[2] ?? 0;
    const bodyOf = (log: readonly Kept[], index: number) => (log[index] as Kept).body;
    const put = (log: readonly Kept[], index: number, body: string) =>
      log.with(index, { ...(log[index] as Kept), body });

    const honest = new DatabaseSync(databaseOf(home));
    const good = logOf(honest, 1);
    honest.close();
    for (const [change, record] of [
      [put(good, n, bodyOf(old, n)), n],
      [put(good, n, '{"salt":"x"}'), n],
      [put(good, n, bodyOf(good, n).replace('"salt":"', '"salt":"x')), n],
      [put(good, 0, bodyOf(old, 0).replace('{"salt":', '{"away":{"by":9},"salt":')), undefined],
      [put(good, n, bodyOf(good, n + 1)), n],
    ] as const) {
      attacked(home, () => change);
      const [defect] = checked(home, run).defects;
      expect(defect).toMatchObject({ where: 'log', ...(record !== undefined && { record }) });
    }
    attacked(home, () => good);
    expect(checked(home, run).defects).toEqual([]);
  });

  it('[D302] is damage to whoever reads its events', async () => {
    const home = temporaryHome();
    const store = opened(home);
    const { run } = await longRun(store, 'iterations', 8);
    collapse(store, run);
    store.close();
    attacked(home, log => log.with(3, { ...(log[3] as Kept), body: (log[4] as Kept).body }));
    const again = opened(home);
    await expect(again.events(run, 0, 100)).rejects.toThrow('is damaged');
    again.close();
  });

  it('[D303] by somebody who writes such a record himself does not have the head that was noted', async () => {
    const home = temporaryHome();
    const store = opened(home);
    const { run } = await longRun(store, 'iterations', 8);
    const head = (await store.run(run))?.head ?? '';
    store.close();
    attacked(home, log => {
      const { header, body } = log[3] as Kept;
      const left = body.replace('{"salt":', '{"away":{"by":99},"salt":');
      const opened = openRecord({ header, body }, nodeHasher);
      expect(opened.ok).toBe(true);
      return resealed(log.with(3, { ...(log[3] as Kept), body: left }));
    });
    const check = checked(home, run);
    expect(check.heads.has(head)).toBe(false);
  });
});

describe('a run that was redacted', () => {
  it('[D304] holds no form of the secret, in log, rows, contents and free pages, and is as it was otherwise', async () => {
    const home = temporaryHome();
    const store = opened(home);
    const { run, fork } = await secretRun(store);
    const heads = await Promise.all([run, fork].map(async id => (await store.run(id))?.head ?? ''));
    const before = (await everyAnswer(store)) as Record<string, Json>;
    const would = redact(store, run, true);
    expect(await everyAnswer(store)).toEqual(before);
    const { records, hadDeltas } = redact(store, run);
    expect([records, hadDeltas]).toEqual([would.records, true]);
    redact(store, fork);
    expect(redact(store, run)).toMatchObject({ records: [] });
    expect(store.takenAway.holders(filter)).toEqual([]);
    const text = JSON.stringify(await everyAnswer(store));
    expect(FORMS.filter(form => text.includes(form))).toEqual([]);
    expect(text).toContain('[redacted: DOOR]');
    expect((await store.run(run))?.output).toEqual({ said: '[redacted: DOOR]' });
    expect(await store.valueAt(run, 'state', 'text', 3)).toBe(`${'x'.repeat(90)} says [redacted: DOOR] and more`);
    const live = store.retention.referenced([]);
    expect(store.takenAway.scrub()).toBe(true);
    store.close();
    for (const [index, id] of [run, fork].entries()) {
      const check = checked(home, id);
      expect(check.defects).toEqual([]);
      expect(check.heads.has(heads[index] ?? '')).toBe(true);
      expect(check.taken).toMatchObject([{ kind: 'redaction', by: 'anna', why: 'it leaked' }]);
    }
    expect(placesOf(home).filter(name => !name.startsWith('blobs/'))).toEqual([]);
    expect(placesOf(home).filter(name => live.has(path.basename(name)))).toEqual([]);
  });

  it('[D305] shows in every frame what it showed, but for the secret, whatever was written when', async () => {
    const piece = fc.constantFrom('x'.repeat(70), SECRET, SECRET.slice(0, 12), SECRET.slice(12), ' and ', '[', '"');
    const history = fc.array(fc.array(piece, { maxLength: 5 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(history, async steps => {
        const home = temporaryHome();
        const store = opened(home);
        const writer = await startRun(store, newRun());
        const values: Json[] = [];
        for (const [index, pieces] of steps.entries()) {
          const value = { text: pieces.join(''), list: pieces };
          const change = changeBetween(values.at(-1), value) ?? set(value);
          await writer.write({
            at: at(index),
            frame: frame(index),
            intervals: [interval('state', 'a', index, change)],
            transitions: [{ frame: index, index: 0, key: 'a', change, at: at(index) }],
          });
          values.push(value);
        }
        redact(store, writer.run);
        const shown = await Promise.all(values.map((_, index) => store.valueAt(writer.run, 'state', 'a', index)));
        expect(shown).toEqual(values.map(value => filter.data(value)));
        const { items } = await store.transitions(writer.run, { limit: 100 });
        expect(items.map(one => one.new)).toEqual(shown);
        store.close();
        expect(checked(home, writer.run).defects).toEqual([]);
      }),
      { seed: 5, numRuns: 25 },
    );
  });

  it('[D306] can be collapsed, redacted again and gone on with; repair rebuilds its rows, and takes its log elsewhere', async () => {
    const home = temporaryHome();
    const store = opened(home);
    const { run } = await secretRun(store);
    redact(store, run);
    collapse(store, run);
    const other = store.takenAway.redact(run, {
      at: at(30),
      by: 'bert',
      why: 'again',
      eventId: freshId<EventId>(),
      name: 'X',
      filter: { has: text => text.includes('a fork'), text: one => one, data: value => value },
    });
    expect(other).toMatchObject({ ok: true, value: { records: [] } });
    const answers = await everyAnswer(store);
    const log = await store.records(run, 0, 1000);
    store.close();
    expect(checked(home, run)).toMatchObject({ defects: [], taken: [{ kind: 'redaction' }, { kind: 'collapse' }] });

    const database = new DatabaseSync(databaseOf(home));
    database.exec('pragma foreign_keys = off; delete from intervals; delete from tasks; delete from run_details');
    database.close();
    const repair = openRepair({ path: databaseOf(home) });
    if (!repair.ok) throw new Error(repair.error.message);
    expect(repair.value.rebuild()).toMatchObject({ ok: true, value: { damaged: [], missing: [] } });
    repair.value.close();
    const again = opened(home);
    expect(await everyAnswer(again)).toEqual(answers);
    again.close();

    const elsewhere = temporaryHome();
    opened(elsewhere).close();
    const blobs = openBlobFiles({ disk: hostDisk, hasher: nodeHasher, home: elsewhere, writer: 'test' });
    for (const name of placesOf(path.join(home, 'blobs'), ['l', 'b'])) {
      blobs.put(readFileSync(path.join(home, 'blobs', name)));
    }
    const target = openRepair({ path: databaseOf(elsewhere) });
    if (!target.ok) throw new Error(target.error.message);
    expect(target.value.append(run, log)).toEqual({ ok: true, value: log.length });
    target.value.close();
    expect(checked(elsewhere, run).defects).toEqual([]);
  });
});

it('[D302] checks a run that was collapsed twice by its last record', async () => {
  const home = temporaryHome();
  const store = opened(home);
  const { run } = await longRun(store, 'growing list', 12);
  for (const frames of [[{ from: 2, to: 4 }], [{ from: 5, to: 9 }]]) {
    const request = { at: at(19), by: 'gc', why: 'it is old', eventId: freshId<EventId>() };
    expect(store.takenAway.collapse(run, frames, request)).toMatchObject({ ok: true });
  }
  store.close();
  const database = new DatabaseSync(databaseOf(home));
  const blobs = openBlobFiles({ disk: hostDisk, hasher: nodeHasher, home, writer: 'test' });
  expect(checkRun({ database, blobs, hasher: nodeHasher }, run)).toMatchObject({
    defects: [],
    taken: [{ kind: 'collapse' }, { kind: 'collapse' }],
  });
  database.close();
});
