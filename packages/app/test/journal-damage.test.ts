import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { at, newRun, signal, startRun } from '../../runs/test/builders.ts';
import { deriveJournal, journalOfRun } from '../src/run-journal/derive-journal.ts';
import { storeIn } from './retention/support.ts';
import { temporaryFolder } from './temporary-folder.ts';

it('[A470] a record whose body cannot be read is not put into a journal, and is named', async () => {
  const home = temporaryFolder();
  const store = storeIn(home);
  const { run, write } = await startRun(store, newRun());
  for (let n = 0; n < 3; n++) await write({ at: at(), events: [signal(`signal ${n} ${'x'.repeat(200)}`)] });
  const other = new DatabaseSync(path.join(home, 'db.sqlite'));
  other.exec(`update records set body = x'0100' where place % 268435456 = 2`);
  other.close();
  expect(await deriveJournal(home, store, run)).toMatchObject({
    ok: false,
    error: { code: 'store/damaged', details: { run, record: 2 } },
  });
  expect(journalOfRun(home, run).read()).toMatchObject({ ok: true, value: { length: 0 } });
  store.close();
});
