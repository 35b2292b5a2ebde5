// Drives the plan of the crash test to its end: starts it or takes it up, and answers what it asks.
//   node crash-child.ts FOLDER MODE [before|after COMMIT]
// With a commit it kills its own process there. It prints the commits it made when the run is completed. In the mode `repaired`
// the plan begins with bugs in its renders and handlers, and each is corrected when the run has failed because of it.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Bug, type RunId } from '@signalbox/model';
import { killThisProcess } from '@signalbox/testkit';
import { crashPlan, openNotedHost } from './noted-run.ts';

const [folder = '', mode, when, at = '0'] = process.argv.slice(2);
let commits = 0;
const world = await openNotedHost(folder, commit => async (writes, guard) => {
  commits += 1;
  const isHere = commits === Number(at);
  if (isHere && when === 'before') killThisProcess();
  const committed = await commit(writes, guard);
  if (isHere && when === 'after') killThisProcess();
  return committed;
});
const run = await startOrResume();
await world.finish(run, mode === 'repaired' ? message => goOnWithout(run, message) : undefined);
console.log(JSON.stringify({ run, commits }));

async function startOrResume(): Promise<RunId> {
  const known = await world.known();
  if (known === undefined) return world.start(planFile());
  if (known.status === 'completed') return known.id;
  if (known.status === 'failed') return goOnWithout(known.id, known.error?.message ?? '');
  return world.resume(known.id);
}

function planFile(): string {
  if (mode !== 'repaired') return crashPlan;
  const buggy = path.join(folder, 'plan.tsx');
  const bug = (name: string, condition: string) => `if (${condition}) throw new Error('${name}');`;
  const inRender = [
    bug('bug one', "ctx.state.get('steps').length === 5"),
    bug('bug two', "Object.keys(ctx.state.get('parallel')).length > 0"),
  ];
  const inHandlers = [bug('bug three', "node === 'step-2'"), bug('bug four', "node === 'count' && iteration === 3")];
  const text = readFileSync(crashPlan, 'utf8');
  const render = 'const { side } = ctx.input;\n    return (';
  const handler = '  handle();\n}';
  if (!text.includes(render) || !text.includes(handler)) throw new Bug('the plan has no place for its bugs');
  writeFileSync(
    buggy,
    text
      .replace(render, `${inRender.join('\n')}\n${render}`)
      .replace(handler, `  handle();\n${inHandlers.join('\n')}\n}`),
  );
  return buggy;
}

/** Corrects the bug that the run failed with, in the file, and goes on with it. */
async function goOnWithout(run: RunId, message: string): Promise<RunId> {
  const [bug] = /bug (one|two|three|four)/.exec(message) ?? [];
  if (bug === undefined) throw new Bug(`the run failed: ${message}`);
  const file = path.join(folder, 'plan.tsx');
  const lines = readFileSync(file, 'utf8').split('\n');
  writeFileSync(file, lines.filter(line => !line.includes(`new Error('${bug}')`)).join('\n'));
  return world.resume(run, { useCurrent: true });
}
