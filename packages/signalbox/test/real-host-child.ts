// An owner of the data directory in FOLDER that runs the task with an agent, until it is killed or the task is done.
//   node real-host-child.ts FOLDER AGENT MODEL answers|waits
// It starts the run, or resumes the one that an owner before it left, and prints a line for everything that happens. With `answers`
// it answers whatever a person is asked, with `waits` nothing.
import * as fs from 'node:fs';
import type { RunId } from '@signalbox/app/host';
import { openRealHost } from './real-host.ts';
import { answerTo, taskPlan } from './real-task.ts';

const [folder = '', agent = '', model = '', how = ''] = process.argv.slice(2);
const { host, store, start, close } = await openRealHost({ folder, agent, model });
const say = (...words: readonly string[]) => fs.writeSync(1, `${words.join(' ')}\n`);
const answer = async (id: Parameters<typeof host.answer>[0]) => {
  const found = await store.decision(id);
  if (found?.decision.status !== 'open') return;
  await host.answer(id, { resolution: answerTo(found.decision.kind) }, 'ada');
};
store.subscribe('all', ({ events }) => {
  for (const { event } of events) {
    say(event.type);
    if (how === 'answers' && event.type === 'decision.asked') void answer(event.decision);
  }
});
say('open');
// What a process before asked is answered before the run goes on, as by a person who was there meanwhile.
if (how === 'answers')
  for (const { decision } of await store.decisions({ status: ['open'] })) await answer(decision.id);
const run = await startOrResume();
for (;;) {
  const end = await host.finished(run);
  if (end?.status !== 'waiting') break;
  // An answer resumes it, if there is one to wait for.
  await new Promise(resolve => setTimeout(resolve, 20));
}
await close();
say('closed');

async function startOrResume(): Promise<RunId> {
  const [known] = (await store.runs()).items;
  if (known === undefined) return start(taskPlan(agent));
  if (['completed', 'failed', 'stopped'].includes(known.status)) return known.id;
  const resumed = await host.resume(known.id, { anyFile: true });
  // An answer has resumed it already.
  if (!resumed.ok && resumed.error.code !== 'run/driven') throw new Error(resumed.error.message);
  return known.id;
}
