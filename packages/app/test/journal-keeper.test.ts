import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { newRun, startRun } from '../../runs/test/builders.ts';
import { createJournalKeeper } from '../src/run-journal/journal-keeper.ts';
import { storeIn } from './retention/support.ts';
import { manualMachine } from './support/run-builders.ts';
import { temporaryFolder } from './temporary-folder.ts';

it('[A197] a journal that cannot be written is written when it can be', async () => {
  const home = temporaryFolder();
  const store = storeIn(home);
  const { timers, pass } = manualMachine();
  const { run } = await startRun(store, newRun());
  const manifest = path.join(home, 'runs', run, 'manifest.jsonl');
  const keeper = createJournalKeeper(home, store, timers);
  // What should be a folder is a file.
  writeFileSync(path.join(home, 'runs'), '');
  keeper.rested(run);
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
