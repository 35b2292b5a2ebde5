// Takes a guided run to its end: starts it by its key or takes it up, and does what each answer says is next.
//   node guided-child.ts DIRECTORY KEY [before|after OPERATION]
// With an operation of the disk it kills its own process there. It prints the operations it made and the keys of the steps.
import { hostDisk } from '@signalbox/journal';
import { interceptedDisk, killThisProcess } from '@signalbox/testkit';
import { filledIn } from '../../../guided/test/support/agent-calls.ts';
import type { StepAnswer } from '../../src/guided/index.ts';
import { openTools } from '../support/open-tools.ts';

const [directory = '', startKey = '', when, at = '-1'] = process.argv.slice(2);
let operations = 0;
const disk = interceptedDisk(hostDisk, (_operation, _path, run) => {
  const isHere = operations++ === Number(at);
  if (isHere && when === 'before') killThisProcess();
  const result = run();
  if (isHere && when === 'after') killThisProcess();
  return result;
});
const tools = openTools(directory, { disk });
const preferences = { autonomy: 'full_auto_never_stop' } as const;

const keys: string[] = [];
let last = await untilDone(() => tools.start({ workflowId: 'wr.research', startKey, preferences }, 'person'));
while (!last.isComplete) {
  keys.push(last.pending?.stepInstanceKey ?? '');
  const call = filledIn(last);
  last = await untilDone(() => tools.continue(call));
}
console.log(JSON.stringify({ operations, keys }));

/** The same call again, as long as another process has the session. */
async function untilDone(call: () => ReturnType<typeof tools.start>): Promise<StepAnswer> {
  for (;;) {
    const answer = await call();
    if (answer.ok) return answer.value;
    if (answer.error.code !== 'TOKEN_SESSION_LOCKED') throw new Error(answer.error.message);
  }
}
