import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RunId } from '@signalbox/model';
import type { Store } from '@signalbox/store';
import { expect, it } from 'vitest';
import { at, newRun, signal, startRun } from '../../runs/test/builders.ts';
import type { Machine } from '../src/machine.ts';
import { journalOfRun } from '../src/run-journal/derive-journal.ts';
import { createJournalKeeper, type JournalKeeper } from '../src/run-journal/journal-keeper.ts';
import { createJournalThread } from '../src/run-journal/journal-thread.ts';
import { createJournalWriter } from '../src/run-journal/journal-writer.ts';
import { openWrittenLengths } from '../src/run-journal/written-lengths.ts';
import { storeIn } from './retention/support.ts';
import { manualMachine } from './support/run-builders.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A keeper that writes in this thread. */
function keeperIn(home: string, store: Store, { timers }: Pick<Machine, 'timers'>): JournalKeeper {
  const writer = createJournalWriter(home, store);
  return createJournalKeeper({
    feed: store,
    timers,
    writer: { ...writer, isStarted: () => true, end: () => {}, close: async () => {} },
    last: writer,
  });
}

it('[A197] a journal that cannot be written is written when it can be', async () => {
  const home = temporaryFolder();
  const store = storeIn(home);
  const { timers, pass } = manualMachine();
  const { run } = await startRun(store, newRun());
  const manifest = path.join(home, 'runs', run, 'manifest.jsonl');
  // A file in place of the folder.
  writeFileSync(path.join(home, 'runs'), '');
  const keeper = keeperIn(home, store, { timers });
  pass(500);
  await new Promise(resolve => setImmediate(resolve));
  rmSync(path.join(home, 'runs'));
  for (let turn = 0; !existsSync(manifest); turn += 1) {
    if (turn > 1000) throw new Error('it does not catch up');
    pass(60_000);
    await new Promise(resolve => setImmediate(resolve));
  }
  await keeper.close();
  expect(existsSync(manifest)).toBe(true);
  store.close();
});

it('[A62] what the end of the process left is written by the next one', async () => {
  const home = temporaryFolder();
  const store = storeIn(home);
  const { timers, pass } = manualMachine();
  const lengthOf = (run: RunId) => {
    const journal = journalOfRun(home, run).read();
    return journal.ok ? journal.value.length : undefined;
  };
  const first = keeperIn(home, store, { timers });
  const short = await startRun(store, newRun());
  const long = await startRun(store, newRun());
  for (let n = 0; n < 100; n++) await long.write({ at: at(), events: [signal(`s${n}`)] });
  await first.close();
  expect([lengthOf(short.run), lengthOf(long.run)]).toEqual([1, 0]);

  const second = keeperIn(home, store, { timers });
  pass(500);
  await until(() => lengthOf(long.run) === 101 || undefined);
  await second.close();

  store.close();
});

it('[A544] a commit that is stamped before the last write and durable after it is written by the next process', async () => {
  const home = temporaryFolder();
  const store = storeIn(home);
  const { timers, pass } = manualMachine();
  const lengthOf = (run: RunId) => {
    const journal = journalOfRun(home, run).read();
    return journal.ok ? journal.value.length : undefined;
  };
  const first = keeperIn(home, store, { timers });
  const { run, write } = await startRun(store, newRun());
  const other = await startRun(store, newRun());
  await other.write({ at: at(50), events: [signal('later')] });
  await first.close();
  expect([lengthOf(run), lengthOf(other.run)]).toEqual([1, 2]);
  // Nobody listens: its process is killed before anything is written.
  await write({ at: at(-3600), events: [signal('early')] });
  const second = keeperIn(home, store, { timers });
  pass(500);
  await until(() => lengthOf(run) === 2 || undefined);
  await second.close();
  store.close();
});

it('[A544] what was written is known by its number of records, whatever is left of the notes', async () => {
  const home = temporaryFolder();
  const store = storeIn(home);
  const runs = [await startRun(store, newRun()), await startRun(store, newRun())] as const;
  const [one, other] = [runs[0].run, runs[1].run];
  const writer = createJournalWriter(home, store);
  const file = path.join(home, 'cache', 'journaled');
  expect(await writer.behind()).toEqual([one, other]);
  await writer.write([one, other]);
  expect(await writer.behind()).toEqual([]);
  await runs[0].write({ at: at(), events: [signal('more')] });
  expect(await writer.behind()).toEqual([one]);
  await writer.write([one]);
  // A line that was cut off says nothing, and neither does one that ran into it.
  const whole = readFileSync(file, 'utf8');
  writeFileSync(file, whole.slice(0, -1));
  expect(await writer.behind()).toEqual([one]);
  openWrittenLengths(home, 'journaled').note(new Map([[one, 2]]));
  expect(await writer.behind()).toEqual([]);
  writeFileSync(file, '2026-01-01T00:00:00.000Z');
  expect(await writer.behind()).toEqual([one, other]);
  rmSync(file);
  expect(await writer.behind()).toEqual([one, other]);
  store.close();
});

it('[A544] the notes stay short, however often a journal is written', () => {
  const home = temporaryFolder();
  const written = openWrittenLengths(home, 'journaled');
  const runs = [1, 2].map(n => `01890000-0000-7000-8000-00000000000${n}` as RunId);
  for (let n = 1; n <= 21_000; n++) written.note(new Map([[runs[n % 2] as RunId, n]]));
  expect(readFileSync(path.join(home, 'cache', 'journaled'), 'utf8').split('\n').length).toBeLessThan(3000);
  expect(runs.map(run => openWrittenLengths(home, 'journaled').of(run))).toEqual([21_000, 20_999]);
});

it('[A474] a thread that is told that the process ends writes only what is short, and the next process the rest', async () => {
  const home = temporaryFolder();
  const store = storeIn(home);
  const short = await startRun(store, newRun());
  const long = await startRun(store, newRun());
  for (let n = 0; n < 450; n++) await long.write({ at: at(), events: [signal(`s${n}`)] });
  const lengthOf = (run: RunId) => {
    const journal = journalOfRun(home, run).read();
    return journal.ok ? journal.value.length : undefined;
  };
  const linesOf = (run: RunId) =>
    readFileSync(path.join(home, 'runs', run, 'logs', 'stream.ndjson'), 'utf8').split('\n').length - 1;
  const first = createJournalThread({ dataDirectory: home });
  first.end();
  expect(await first.write([short.run, long.run])).toEqual([long.run]);
  expect(await first.writeLogs([short.run, long.run])).toEqual({ left: [long.run] });
  expect([lengthOf(short.run), lengthOf(long.run), linesOf(short.run), linesOf(long.run)]).toEqual([1, 0, 1, 200]);
  await first.close();
  const second = createJournalThread({ dataDirectory: home });
  expect(await second.write([long.run])).toEqual([]);
  expect(await second.writeLogs([long.run])).toEqual({ left: [] });
  await second.close();
  expect([lengthOf(long.run), linesOf(long.run)]).toEqual([451, 451]);
  store.close();
});

it('[A62] a thread of its own writes it while the run goes on, and none is started once that was closed', async () => {
  const home = temporaryFolder();
  const store = storeIn(home);
  const { run } = await startRun(store, newRun());
  const thread = createJournalThread({ dataDirectory: home });
  expect(await thread.write([run])).toEqual([]);
  expect(journalOfRun(home, run).read()).toMatchObject({ ok: true, value: { length: 1 } });
  await thread.close();
  expect(await thread.write([run])).toEqual([run]);
  const late = createJournalThread({ dataDirectory: home });
  await late.close();
  expect(await late.write([run])).toEqual([run]);
  store.close();
});
