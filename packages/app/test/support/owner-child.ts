// An owner of the data directory in FOLDER, until it is killed.
//   node owner-child.ts FOLDER start PLAN COUNT     starts so many runs of a plan
//   node owner-child.ts FOLDER take-up              takes up what the owner before left
//   node owner-child.ts FOLDER answer ID OPTION     chooses an option of a decision, and goes on with its run
// It prints the ids of its runs as one line of JSON, and when none of them goes on any more, how each of them stands.
import path from 'node:path';
import { approvalId, Bug, type RunId } from '@signalbox/model';
import type { Resolution } from '@signalbox/runs';
import { thisMachine } from '../../src/machine.ts';
import { openRunHost } from '../../src/runs/open-run-host.ts';
import { openOwnedStore } from '../../src/runs/owned-store.ts';
import { takeUp } from '../../src/runs/take-up.ts';
import { noAgents } from './open-host.ts';

const [folder = '', what = '', first = '', second = ''] = process.argv.slice(2);
const dataDirectory = path.join(folder, 'data');
const machine = thisMachine();
const opened = openOwnedStore(dataDirectory, machine);
if (!opened.ok) throw new Bug(opened.error.message);
const host = await openRunHost({
  owned: opened.value,
  dataDirectory,
  machine,
  agents: noAgents,
  threads: { threads: 1 },
  resumeOnAnswer: true,
});
const begin = { start: startRuns, 'take-up': () => takeUp(host), answer }[what];
if (begin === undefined) throw new Bug(`there is nothing to do: ${what}`);
const runs = await begin();
console.log(JSON.stringify(runs));
const ends = await Promise.all(runs.map(run => host.finished(run)));
await host.close();
opened.value.close();
console.log(JSON.stringify(ends.map(end => end?.status)));

async function startRuns(): Promise<readonly RunId[]> {
  const started: RunId[] = [];
  for (let n = 0; n < Number(second); n++) {
    const run = await host.start({ file: path.join(folder, first), anyFile: true, input: { folder } });
    if (!run.ok) throw new Bug(run.error.message);
    started.push(run.value);
  }
  return started;
}

async function answer(): Promise<readonly RunId[]> {
  const resolution = { resolutionType: 'choose_option', chosenOptionId: second, rationale: '', actionKind: 'review' };
  const answered = await host.answer(approvalId.parse(first), { resolution: resolution as Resolution }, 'tester');
  if (!answered.ok) throw new Bug(answered.error.message);
  return host.driven();
}
