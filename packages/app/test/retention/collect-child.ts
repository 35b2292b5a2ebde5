/** Collects a data directory and kills itself before or after the nth COMMIT, or before the nth removal of a file. */

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { deskOf, storeIn } from './support.ts';

const [home = '', when = '', nth = '0'] = process.argv.slice(2);
let left = Number(nth);
const die = () => process.kill(process.pid, 'SIGKILL');

function committing(commit: () => void): void {
  const counts = (when === 'before' || when === 'after') && --left === 0;
  if (counts && when === 'before') die();
  commit();
  if (counts && when === 'after') die();
}

class Mortal extends DatabaseSync {
  override exec(sql: string): void {
    if (sql === 'commit') committing(() => super.exec(sql));
    else super.exec(sql);
  }

  override prepare(sql: string): StatementSync {
    const statement = super.prepare(sql);
    if (sql !== 'commit') return statement;
    const run = statement.run.bind(statement);
    statement.run = () => {
      committing(() => void run());
      return { changes: 0, lastInsertRowid: 0 };
    };
    return statement;
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
