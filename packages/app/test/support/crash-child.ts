// Drives the plan of the crash test to its end: starts it or takes it up, and answers what it asks.
//   node crash-child.ts FOLDER MODE [before|after COMMIT]
// With a commit it kills its own process there. It prints the commits it made when the run is completed. In the mode `repaired`
// the plan begins with two bugs, and each is corrected when the run has failed because of it.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Bug, type RunId } from '@signalbox/model';
import type { Commit } from '@signalbox/runs';
import { killThisProcess } from '@signalbox/testkit';
import { thisMachine } from '../../src/machine.ts';
import { openRunHost } from '../../src/runs/open-run-host.ts';
import { openOwnedStore } from '../../src/runs/owned-store.ts';
import { noAgents } from './open-host.ts';

const [folder = '', mode, when, at = '0'] = process.argv.slice(2);
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
  if (end.status === 'failed' && mode === 'repaired') {
    await goOnWithout(run, end.error.message);
    continue;
  }
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
  if (known?.status === 'failed') return goOnWithout(known.id, known.error?.message ?? '');
  const started =
    known === undefined
      ? await host.start({ file: planFile(), anyFile: true, input: { side } })
      : await host.resume(known.id);
  if (!started.ok) throw new Bug(started.error.message);
  return started.value;
}

function planFile(): string {
  const file = path.join(import.meta.dirname, '..', 'plans', 'crash.tsx');
  if (mode !== 'repaired') return file;
  const buggy = path.join(folder, 'plan.tsx');
  const bug = (name: string, condition: string) => `if (${condition}) throw new Error('${name}');`;
  const bugs = [
    bug('bug one', "ctx.state.get('steps').length === 5"),
    bug('bug two', "Object.keys(ctx.state.get('parallel')).length > 0"),
  ];
  const place = 'const { side } = ctx.input;\n    return (';
  const text = readFileSync(file, 'utf8');
  if (!text.includes(place)) throw new Bug('the plan has no place for its bugs');
  writeFileSync(buggy, text.replace(place, `${bugs.join('\n')}\n${place}`));
  return buggy;
}

/** Corrects the bug that the run failed with, in the file, and goes on with it. */
async function goOnWithout(run: RunId, message: string): Promise<RunId> {
  const [bug] = /bug (one|two)/.exec(message) ?? [];
  if (bug === undefined) throw new Bug(`the run failed: ${message}`);
  const file = path.join(folder, 'plan.tsx');
  const lines = readFileSync(file, 'utf8').split('\n');
  writeFileSync(file, lines.filter(line => !line.includes(`new Error('${bug}')`)).join('\n'));
  const resumed = await host.resume(run, { useCurrent: true, anyFile: true });
  if (!resumed.ok) throw new Bug(resumed.error.message);
  return resumed.value;
}
