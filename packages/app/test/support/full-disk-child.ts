// Drives the plan of the crash test to its end on a disk that fills and empties.
//   node full-disk-child.ts FOLDER DISK [through|held|after COMMIT]
// Before that commit the disk is filled. `held` kills the process while the commit waits for room; the others make room, and
// `after` kills it when the commit went through. It prints the commits it made, and how the run was shown while it waited.
import { appendFileSync, closeSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { Bug, type RunId } from '@signalbox/model';
import type { Commit } from '@signalbox/runs';
import { killThisProcess } from '@signalbox/testkit';
import { thisMachine } from '../../src/machine.ts';
import { openRunHost } from '../../src/runs/open-run-host.ts';
import { openOwnedStore } from '../../src/runs/owned-store.ts';
import { noAgents } from './open-host.ts';

const [folder = '', disk = '', how, at = '0'] = process.argv.slice(2);
const side = path.join(folder, 'side');
const dataDirectory = path.join(folder, 'data');
const filler = path.join(disk, 'filler');
const machine = thisMachine();
const opened = openOwnedStore(dataDirectory, machine);
if (!opened.ok) throw new Bug(opened.error.message);

const { store } = opened.value;
let commits = 0;
/** How often the commit that waits was refused. */
let refusals = 0;
let refused: unknown;
let shown: unknown;
const commit: Commit['commit'] = async (writes, guard) => {
  const isRetry = writes === refused;
  if (!isRetry) commits += 1;
  const isHere = isRetry || commits === Number(at);
  if (isHere && !isRetry) fill();
  const committed = await store.commit(writes, guard);
  if (isHere && !committed.ok) {
    refused = writes;
    refusals += 1;
    // It was tried again, too.
    if (refusals > 1) {
      shown = { storage: host.storage.standing().status, run: (await host.reader.run(guard.run))?.status };
      if (how === 'held') killThisProcess();
      rmSync(filler);
    }
  }
  if (isHere && committed.ok && how === 'after') killThisProcess();
  return committed;
};
store.subscribe('all', ({ events }) => {
  for (const { event } of events) {
    if (event.type === 'task.ended')
      appendFileSync(side, `committed ${event.node} ${event.iteration} ${event.attempt}\n`);
    if (event.type === 'task.retry')
      appendFileSync(side, `retried ${event.node} ${event.iteration} ${event.attempt}\n`);
    if (event.type === 'handler.ran') appendFileSync(side, `counted ${event.node} ${event.task} ${event.handler}\n`);
  }
});

const host = await openRunHost({
  owned: { ...opened.value, store: { ...store, commit } },
  dataDirectory,
  machine,
  agents: noAgents,
  threads: { threads: 1 },
});
const run = await startOrResume();
for (;;) {
  const end = await host.finished(run);
  if (end?.status === 'completed' || end === undefined) break;
  if (end.status !== 'waiting') throw new Bug(`the run ended as ${JSON.stringify(end)}`);
  for (const { decision } of await store.decisions({ run, status: ['open'] })) {
    const resolution = { resolutionType: 'approve', rationale: '', actionKind: 'review' } as const;
    await host.answer(decision.id, { resolution }, 'tester');
  }
  await host.resume(run);
}
await host.close();
opened.value.close();
console.log(JSON.stringify({ run, commits, shown }));

async function startOrResume(): Promise<RunId> {
  const [known] = (await store.runs()).items.filter(({ origin }) => origin === undefined);
  if (known?.status === 'completed') return known.id;
  const file = path.join(import.meta.dirname, '..', 'plans', 'crash.tsx');
  const started =
    known === undefined ? await host.start({ file, anyFile: true, input: { side } }) : await host.resume(known.id);
  if (!started.ok) throw new Bug(started.error.message);
  return started.value;
}

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
