import { EMPTY_HEAD, type RunId } from '@signalbox/model';
import { type ArchiveRow, archiveParts, changeBetween, type LogRecord, type TaskId } from '@signalbox/runs';
import { expect, it } from 'vitest';
import {
  asked,
  at,
  frame,
  gone,
  interval,
  newRun,
  runCreated,
  set,
  signal,
  startRun,
  task,
} from '../../runs/test/builders.ts';
import { openArchive } from '../src/bundles/open-archive.ts';
import { databaseOf } from './support/database-file.ts';
import { temporaryStore } from './support/stores.ts';

/** A run with something of everything: values that grow, change and end, some of them large. */
async function story() {
  const store = temporaryStore();
  const writer = await startRun(store, newRun({ tags: ['a', 'b'] }));
  const { run } = writer;
  const list = Array.from({ length: 40 }, (_, index) => `item ${index}`);
  const grown = changeBetween(list, [...list, 'more']) ?? gone;
  const first = task(run, { status: 'running' });
  await writer.write({
    at: at(1),
    frame: frame(0),
    intervals: [interval('state', 'list', 0, set(list)), interval('node', 'a', 0, set('x'.repeat(70_000)))],
    transitions: [{ frame: 0, index: 0, key: 'list', change: set(list), at: at(1) }],
    tasks: [first],
    decisions: [{ kind: 'ask', decision: asked(run) }],
    events: [runCreated(newRun())],
  });
  await writer.write({
    at: at(2),
    frame: frame(1),
    intervals: [interval('state', 'list', 1, grown), interval('node', 'a', 1, gone)],
    transitions: [{ frame: 1, index: 0, key: 'list', change: grown, trigger: 'b', at: at(2) }],
    tasks: [{ ...first, status: 'done', result: { text: 'y'.repeat(70_000) }, endedAt: at(2) }],
    stream: [{ task: first.id, index: 0, kind: 'token', payload: 'hi', at: at(2) }],
    usage: [
      {
        call: 'c',
        inputTokens: 1,
        outputTokens: 2,
        cachedTokens: 0,
        toolCalls: 0,
        costMicroUsd: 3,
        wallMs: 4,
        at: at(2),
      },
    ],
    events: [signal('x')],
  });
  return { store, run };
}

function rowsOf(home: string, run: RunId): readonly ArchiveRow[] {
  const archive = openArchive({ path: databaseOf(home) });
  if (!archive.ok) throw new Error(archive.error.message);
  const rows = archiveParts.flatMap(part =>
    [...archive.value.archived(run, part)].map(row => ({ part, row }) as ArchiveRow),
  );
  archive.value.close();
  return rows;
}

it('[D30] keeps the log of another store as it is, and every frame shows the same', async () => {
  const { store, run } = await story();
  const rows = rowsOf(store.home, run);
  const other = temporaryStore();
  expect(await other.put([Buffer.from(JSON.stringify('x'.repeat(70_000)))])).toMatchObject({ ok: true });
  expect(await other.put([Buffer.from(JSON.stringify({ text: 'y'.repeat(70_000) }))])).toMatchObject({ ok: true });
  expect(other.restore(rows)).toEqual({ ok: true, value: [run] });
  expect(rowsOf(other.home, run)).toEqual(rows);
  for (const index of [0, 1]) {
    for (const space of ['node', 'state'] as const) {
      expect(await other.at(run, space, index)).toEqual(await store.at(run, space, index));
    }
  }
  expect(await other.run(run)).toEqual(await store.run(run));
  expect(await other.tasks(run)).toEqual(await store.tasks(run));
  const [first] = await other.tasks(run);
  expect(await other.stream(run, first?.id as TaskId, 0, 9)).toHaveLength(1);
});

it('[D31] keeps nothing of records that do not follow', async () => {
  const { store, run } = await story();
  const rows = rowsOf(store.home, run);
  const other = temporaryStore();
  await other.put([Buffer.from(JSON.stringify('x'.repeat(70_000)))]);
  await other.put([Buffer.from(JSON.stringify({ text: 'y'.repeat(70_000) }))]);
  const changed = (n: number, change: (record: LogRecord) => LogRecord) =>
    rows.map((row, index) => (index === n && row.part === 'records' ? { part: row.part, row: change(row.row) } : row));
  const wrong: readonly (readonly ArchiveRow[])[] = [
    rows.slice(1),
    rows.toSpliced(1, 1),
    [...rows.slice(0, 3), ...rows.slice(2)],
    changed(1, record => ({ ...record, body: record.body.replace('item 0', 'item 9') })),
    changed(1, record => ({ ...record, header: record.header.replace('"n":1', '"n":2') })),
    changed(2, record => ({ ...record, hash: EMPTY_HEAD })),
    rows.filter(({ part }) => part === 'deltas'),
  ];
  for (const given of wrong) expect(other.restore(given)).toMatchObject({ ok: false });
  expect((await other.runs()).items).toEqual([]);
  expect(other.restore(rows)).toMatchObject({ ok: true });
  expect(other.restore(rows)).toMatchObject({ ok: false });
});

it('[D32] answers what was committed at one moment, whoever goes on writing', async () => {
  const { store, run } = await story();
  const archive = openArchive({ path: databaseOf(store.home) });
  if (!archive.ok) throw new Error(archive.error.message);
  const before = [...archive.value.archived(run, 'records')];
  await store.commit({ at: at(5), events: [signal('late')] }, { run, version: 'any' });
  expect([...archive.value.archived(run, 'records')]).toEqual(before);
  expect((await archive.value.run(run))?.records).toBe(before.length);
  archive.value.close();
  expect((await store.run(run))?.records).toBe(before.length + 1);
});
