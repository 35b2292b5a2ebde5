import type { RunId } from '@signalbox/model';
import { type ArchiveRow, archiveParts, changeBetween } from '@signalbox/runs';
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

/** As they are handed over: the record comes again at the end. */
const ended = (rows: readonly ArchiveRow[]) => [...rows, ...rows.filter(({ part }) => part === 'record')];

it('[D30] keeps the rows of another store as they are, and every frame shows the same', async () => {
  const { store, run } = await story();
  const rows = rowsOf(store.home, run);
  const other = temporaryStore();
  expect(other.restore(ended(rows))).toEqual({ ok: true, value: [run] });
  expect(rowsOf(other.home, run)).toEqual(rows);
  for (const index of [0, 1]) {
    for (const space of ['node', 'state'] as const) {
      expect(await other.at(run, space, index)).toEqual(await store.at(run, space, index));
    }
  }
  expect(await other.run(run)).toEqual(await store.run(run));
  expect(await other.tasks(run)).toEqual(await store.tasks(run));
});

it('[D31] keeps nothing of rows that do not fit', async () => {
  const { store, run } = await story();
  const rows = ended(rowsOf(store.home, run));
  const other = temporaryStore();
  const changed = (part: ArchiveRow['part'], change: (row: never) => object) =>
    rows.map(row => (row.part === part ? ({ part, row: change(row.row as never) } as ArchiveRow) : row));
  const wrong: readonly (readonly ArchiveRow[])[] = [
    rows.slice(0, -1),
    rows.slice(1),
    rows.filter(({ part }) => part !== 'journal'),
    changed('journal', ({ event, hash }: { event: { ts: string }; hash: string }) => ({
      event: { ...event, ts: at(9) },
      hash,
    })),
    changed('journal', ({ event, hash }: { event: { seq: number }; hash: string }) => ({
      event: { ...event, seq: event.seq + 1 },
      hash,
    })),
    changed('intervals', (row: object) => ({ ...row, change: { kind: 'patch', steps: [] } })),
  ];
  for (const given of wrong) expect(other.restore(given)).toMatchObject({ ok: false });
  expect((await other.runs()).items).toEqual([]);
  expect(other.restore(rows)).toMatchObject({ ok: true });
  expect(other.restore(rows)).toMatchObject({ ok: false, error: { code: 'run/exists' } });
});

it('[D32] answers what was committed at one moment, whoever goes on writing', async () => {
  const { store, run } = await story();
  const archive = openArchive({ path: databaseOf(store.home) });
  if (!archive.ok) throw new Error(archive.error.message);
  const before = [...archive.value.archived(run, 'journal')];
  await store.commit({ at: at(5), events: [signal('late')] }, { run, version: 'any' });
  expect([...archive.value.archived(run, 'journal')]).toEqual(before);
  expect((await archive.value.run(run))?.nextSeq).toBe(before.length);
  archive.value.close();
  expect((await store.run(run))?.nextSeq).toBe(before.length + 1);
});
