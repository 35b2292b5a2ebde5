import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RunId } from '@signalbox/model';
import type { Store } from '@signalbox/store';
import { expect, it } from 'vitest';
import { at, newRun, signal, startRun } from '../../runs/test/builders.ts';
import type { Machine } from '../src/machine.ts';
import { journalOfRun } from '../src/run-journal/derive-journal.ts';
import { createJournalKeeper, type JournalKeeper } from '../src/run-journal/journal-keeper.ts';
import { openJournalMark } from '../src/run-journal/journal-mark.ts';
import { createJournalThread } from '../src/run-journal/journal-thread.ts';
import { createJournalWriter } from '../src/run-journal/journal-writer.ts';
import { storeIn } from './retention/support.ts';
import { manualMachine } from './support/run-builders.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A keeper that writes in this thread. */
function keeperIn(home: string, store: Store, { timers, clock }: Pick<Machine, 'timers' | 'clock'>): JournalKeeper {
  const writer = createJournalWriter(home, store);
  const mark = openJournalMark(home, store, clock);
  return createJournalKeeper({
    feed: store,
    timers,
    mark,
    writer: { ...writer, isStarted: () => true, end: () => {}, close: async () => {} },
    last: writer,
  });
}

it('[A197] a journal that cannot be written is written when it can be', async () => {
  const home = temporaryFolder();
  const store = storeIn(home);
  const { timers, clock, pass } = manualMachine();
  const { run } = await startRun(store, newRun());
  const manifest = path.join(home, 'runs', run, 'manifest.jsonl');
  // What should be a folder is a file.
  writeFileSync(path.join(home, 'runs'), '');
  const keeper = keeperIn(home, store, { timers, clock });
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
  const { timers, clock, pass } = manualMachine();
  const lengthOf = (run: RunId) => {
    const journal = journalOfRun(home, run).read();
    return journal.ok ? journal.value.length : undefined;
  };
  const first = keeperIn(home, store, { timers, clock });
  const short = await startRun(store, newRun());
  const long = await startRun(store, newRun());
  for (let n = 0; n < 100; n++) await long.write({ at: at(), events: [signal(`s${n}`)] });
  await first.close();
  expect([lengthOf(short.run), lengthOf(long.run)]).toEqual([1, 0]);

  const second = keeperIn(home, store, { timers, clock });
  pass(500);
  await until(() => lengthOf(long.run) === 101 || undefined);
  await second.close();

  store.close();
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
