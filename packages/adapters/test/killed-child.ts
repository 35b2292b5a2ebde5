// A process that works on a task and ends itself, with SIGKILL, before its n-th durable operation.
// node killed-child.ts DIRECTORY N
import { killThisProcess } from '@signalbox/testkit';
import { live } from './host-life.ts';

const [directory = '', at = ''] = process.argv.slice(2);
const outcome = await live(directory, operation => {
  if (operation === Number(at)) killThisProcess();
});
process.stdout.write(`${JSON.stringify(outcome)}\n`);
