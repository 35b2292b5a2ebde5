/** Writes the journal and the log of a run and kills itself before or after the nth thing that it does to the disk. */

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { RunId } from '@signalbox/model';

const [data = '', run = '', when = '', nth = '0'] = process.argv.slice(2);
let left = Number.POSITIVE_INFINITY;

for (const name of [
  'openSync',
  'writeSync',
  'fsyncSync',
  'ftruncateSync',
  'mkdirSync',
  'renameSync',
  'rmSync',
  'writeFileSync',
  'appendFileSync',
] as const) {
  const real = fs[name] as (...args: unknown[]) => unknown;
  Object.assign(fs, {
    [name](...args: unknown[]) {
      left -= 1;
      if (left === 0 && when === 'before') process.kill(process.pid, 'SIGKILL');
      const done = real(...args);
      if (left === 0 && when === 'after') process.kill(process.pid, 'SIGKILL');
      return done;
    },
  });
}
syncBuiltinESMExports();

const { openReader } = await import('@signalbox/store');
const { createRunLogWriter } = await import('../src/logs/run-log-writer.ts');
const { createJournalWriter } = await import('../src/run-journal/journal-writer.ts');
const opened = openReader({ path: `${data}/db.sqlite` });
if (!opened.ok) throw new Error(opened.error.message);
const reader = opened.value;
/** As if the run went on between two writes. */
let known = 0;
const growing = {
  ...reader,
  records: (id: RunId, from: number, limit: number) =>
    reader.records(id, from, Math.max(0, Math.min(limit, known - from))),
};
const journals = createJournalWriter(data, growing);
const logs = createRunLogWriter({ reader: growing, dataDirectory: data, clean: value => value });
left = Number(nth);
for (known = 5; known <= 20; known += 5) {
  await journals.write([run as RunId]);
  await logs.writeLogs([run as RunId]);
}
await logs.restLogs();
left = Number.POSITIVE_INFINITY;
