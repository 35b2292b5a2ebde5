/** Collects a data directory and kills itself before or after the nth COMMIT, or before the nth removal of a file. */

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { deskOf, storeIn } from './support.ts';

const [home = '', when = '', nth = '0'] = process.argv.slice(2);
let left = Number(nth);
const die = () => process.kill(process.pid, 'SIGKILL');

function dying(work: () => unknown): unknown {
  const counts = (when === 'before' || when === 'after') && --left === 0;
  if (counts && when === 'before') die();
  const done = work();
  if (counts && when === 'after') die();
  return done;
}

class Mortal extends DatabaseSync {
  override exec(sql: string): void {
    if (sql === 'commit') dying(() => super.exec(sql));
    else super.exec(sql);
  }

  override prepare(sql: string): StatementSync {
    const statement = super.prepare(sql);
    if (sql !== 'commit') return statement;
    const run = statement.run.bind(statement);
    return Object.assign(statement, { run: () => dying(run) });
  }
}

for (const name of ['unlinkSync', 'rmSync'] as const) {
  const real = fs[name] as (...args: unknown[]) => void;
  Object.assign(fs, {
    [name](...args: unknown[]) {
      if (when === 'file' && --left === 0) die();
      real(...args);
    },
  });
}
syncBuiltinESMExports();

const store = storeIn(home, file => new Mortal(file, { timeout: 0 }));
left = Number(nth);
// Ids of its own: what it tells is told by another life.
await deskOf(store, home, 40, {}, 999).collect({ dryRun: false, by: 'gc' });
store.close();
