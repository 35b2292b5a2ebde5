// Drives the plan of the crash test to its end: starts it or takes it up, and answers what it asks.
//   node crash-child.ts FOLDER [before|after COMMIT]
// With a commit it kills its own process there. It prints the commits it made when the run is completed.
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { Bug, type RunId } from '@signalbox/model';
import type { Commit } from '@signalbox/runs';
import { killThisProcess } from '@signalbox/testkit';
import { thisMachine } from '../../src/machine.ts';
import { openRunHost } from '../../src/runs/open-run-host.ts';
import { openOwnedStore } from '../../src/runs/owned-store.ts';
import { noAgents } from './open-host.ts';

const [folder = '', when, at = '0'] = process.argv.slice(2);
const side = path.join(folder, 'side');
const dataDirectory = path.join(folder, 'data');
const machine = thisMachine();
const opened = openOwnedStore(dataDirectory, machine);
if (!opened.ok) throw new Bug(opened.error.message);

let commits = 0;
const { store } = opened.value;
const commit: Commit['commit'] = async (writes, guard) => {
  commits += 1;
  const isHere = commits === Number(at);
  if (isHere && when === 'before') killThisProcess();
  const committed = await store.commit(writes, guard);
  if (isHere && when === 'after') killThisProcess();
  return committed;
};
// What is durable is noted in the side file, so that work done after its commit can be told from work before it.
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
console.log(JSON.stringify({ run, commits }));

async function startOrResume(): Promise<RunId> {
  const [known] = (await store.runs()).items.filter(({ origin }) => origin === undefined);
  if (known?.status === 'completed') return known.id;
  const file = path.join(import.meta.dirname, '..', 'plans', 'crash.tsx');
  const started = known === undefined ? await host.start({ file, input: { side } }) : await host.resume(known.id);
  if (!started.ok) throw new Bug(started.error.message);
  return started.value;
}
