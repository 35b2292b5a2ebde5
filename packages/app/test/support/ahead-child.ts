// An owner of the data directory in FOLDER that is killed while a run is ahead of its commits.
//   node ahead-child.ts FOLDER COMMIT
// It starts FOLDER/plan.tsx. At that commit its process waits until 8 more tasks have begun, each with a line in the file `begun`, than the database knows of,
// and kills itself.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Bug } from '@signalbox/model';
import { killThisProcess } from '@signalbox/testkit';
import { openKilledAtCommit } from './killed-at-commit.ts';
import { noAgents } from './open-host.ts';

const [folder = '', commit = ''] = process.argv.slice(2);
const file = path.join(folder, 'begun');
const begun = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0);
const cell = new Int32Array(new SharedArrayBuffer(4));
const { host } = await openKilledAtCommit(folder, 'never', {
  agents: noAgents,
  onCommit(n) {
    if (n !== Number(commit)) return;
    const database = new DatabaseSync(path.join(folder, 'data', 'db.sqlite'), { readOnly: true });
    const tasks = Number(database.prepare('select count(*) as count from tasks').get()?.count);
    // The thread of the plan continues meanwhile.
    while (begun() < tasks + 8) Atomics.wait(cell, 0, 0, 5);
    killThisProcess();
  },
});
const run = await host.start({ file: path.join(folder, 'plan.tsx'), anyFile: true, input: { folder } });
if (!run.ok) throw new Bug(run.error.message);
console.log(run.value);
await host.finished(run.value);
