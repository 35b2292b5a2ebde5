/** Redacts a run and kills itself before or after the nth thing that it does to the disk. */

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync } from 'node:sqlite';

const [data = '', run = '', when = '', nth = '0'] = process.argv.slice(2);
let left = Number.POSITIVE_INFINITY;

function mortal<T>(work: () => T): T {
  left -= 1;
  if (left === 0 && when === 'before') process.kill(process.pid, 'SIGKILL');
  const done = work();
  if (left === 0 && when === 'after') process.kill(process.pid, 'SIGKILL');
  return done;
}

const { exec, prepare } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (sql) {
  return /^(commit|vacuum)$/.test(sql) ? mortal(() => exec.call(this, sql)) : exec.call(this, sql);
};
DatabaseSync.prototype.prepare = function (sql) {
  return /wal_checkpoint/.test(sql) ? mortal(() => prepare.call(this, sql)) : prepare.call(this, sql);
};
const OPERATIONS = [
  'openSync',
  'writeSync',
  'fsyncSync',
  'ftruncateSync',
  'mkdirSync',
  'rmSync',
  'renameSync',
  'writeFileSync',
  'appendFileSync',
] as const;
for (const name of OPERATIONS) {
  const real = fs[name] as (...args: unknown[]) => unknown;
  Object.assign(fs, { [name]: (...args: unknown[]) => mortal(() => real(...args)) });
}
syncBuiltinESMExports();

const { deskOf, owned } = await import('./support.ts');
const { SECRET } = await import('../../../store/test/support/secret-runs.ts');
const home = owned(data);
left = Number(nth);
const done = await deskOf(data, home).redact(run as never, { value: SECRET, name: 'DOOR' }, 'anna');
left = Number.POSITIVE_INFINITY;
home.close();
process.exitCode = done.ok ? 0 : 1;
