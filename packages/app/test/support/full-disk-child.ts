// Drives the plan of the crash test to its end on a disk that fills and empties.
//   node full-disk-child.ts FOLDER DISK [through|held|after COMMIT]
// Before that commit the disk is filled. `held` kills the process while the commit waits for room; the others make room, and
// `after` kills it when the commit went through. It prints the commits it made, and how the run was shown while it waited.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { RunId } from '@signalbox/model';
import { killThisProcess } from '@signalbox/testkit';
import { crashPlan, openNotedHost } from './noted-run.ts';

const [folder = '', disk = '', how, at = '0'] = process.argv.slice(2);
const filler = path.join(disk, 'filler');

let commits = 0;
/** How often the commit that waits was refused. */
let refusals = 0;
let refused: unknown;
let shown: unknown;
const world = await openNotedHost(folder, commit => async (writes, guard) => {
  const isRetry = writes === refused;
  if (!isRetry) commits += 1;
  const isHere = isRetry || commits === Number(at);
  if (isHere && !isRetry) fill();
  const committed = await commit(writes, guard);
  if (isHere && !committed.ok) {
    refused = writes;
    refusals += 1;
    // It was tried again, too.
    if (refusals > 1) {
      const { host, known } = world;
      const root = (await known())?.id;
      const statusOf = async (run: RunId | undefined) => run && (await host.reader.run(run))?.status;
      const runs = { root: await statusOf(root), run: await statusOf(guard.run) };
      shown = { storage: host.storage.standing().status, creates: writes.run?.kind === 'create', ...runs };
      if (how === 'held') killThisProcess();
      rmSync(filler);
    }
  }
  if (isHere && committed.ok && how === 'after') killThisProcess();
  return committed;
});
const known = await world.known();
const isOver = known?.status === 'completed';
const run = known === undefined ? await world.start(crashPlan) : isOver ? known.id : await world.resume(known.id);
await world.finish(run);
console.log(JSON.stringify({ run, commits, shown }));

/** To the last byte. */
function fill(): void {
  const file = openSync(filler, 'w');
  for (let bytes = 65_536; bytes >= 1; ) {
    try {
      writeSync(file, Buffer.alloc(bytes));
    } catch {
      bytes = Math.floor(bytes / 16);
    }
  }
  closeSync(file);
}
