// An owner of the data directory in FOLDER, until it is killed.
//   node owner-child.ts FOLDER KILL start PLAN COUNT     starts so many runs of a plan, and notes each in the file `started`
//   node owner-child.ts FOLDER KILL take-up              takes up what the owner before left
//   node owner-child.ts FOLDER KILL answer ID OPTION [JSON]     chooses an option of a decision, and goes on with its run
// KILL is `never`, or the commit at which it kills itself: `before:3`, `after:3`. It prints the ids of its runs as one line of
// JSON, and when none of them goes on any more, how each of them stands. Its commits are noted in the file `commits`.
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { approvalId, Bug, type Resolution, type RunId } from '@signalbox/model';
import { takeUp } from '../../src/host/take-up.ts';
import { openKilledAtCommit } from './killed-at-commit.ts';
import { noAgents } from './open-host.ts';

const [folder = '', kill = '', what = '', first = '', second = '', third] = process.argv.slice(2);
const { host, close } = await openKilledAtCommit(folder, kill, {
  agents: noAgents,
  resumeOnAnswer: true,
  onCommit: n => appendFileSync(path.join(folder, 'commits'), `${n}\n`),
});
const begin = { start: startRuns, 'take-up': () => takeUp(host), answer }[what];
if (begin === undefined) throw new Bug(`there is nothing to do: ${what}`);
const runs = await begin();
console.log(JSON.stringify(runs));
const ends = await Promise.all(runs.map(run => host.finished(run)));
await close();
console.log(JSON.stringify(ends.map(end => end?.status)));

async function startRuns(): Promise<readonly RunId[]> {
  const started: RunId[] = [];
  for (let n = 0; n < Number(second); n++) {
    const run = await host.start({ file: path.join(folder, first), anyFile: true, input: { folder } });
    if (!run.ok) throw new Bug(run.error.message);
    started.push(run.value);
    appendFileSync(path.join(folder, 'started'), `${run.value}\n`);
  }
  return started;
}

async function answer(): Promise<readonly RunId[]> {
  const value = third === undefined ? {} : { value: JSON.parse(third) };
  const chosen = { resolutionType: 'choose_option', chosenOptionId: second, ...value };
  const resolution = { ...chosen, rationale: '', actionKind: 'review' };
  const answered = await host.answer(approvalId.parse(first), { resolution: resolution as Resolution }, 'tester');
  if (!answered.ok) throw new Bug(answered.error.message);
  return host.driven();
}
