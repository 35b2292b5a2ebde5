// A process that ends itself, with SIGKILL, before the n-th change that a turn with inner calls makes on disk.
// node inner-crash-child.ts DIRECTORY N      prints how many changes there were, if it lives.
import { crashing } from './crashing-files.ts';
import { takeTurn } from './inner-turn.ts';
import { openLayered } from './layered.ts';

const [directory = '', at = '0'] = process.argv.slice(2);
const { port, count } = crashing(Number(at), true);
const place = await openLayered(directory, { files: port });
const outcome = await takeTurn(place, async agent => {
  await agent.call('one', 'echo 1 > src/a; rm -rf old');
  await agent.run('echo n > nobody');
  await agent.call('two', 'echo 2 > two; echo 2 >> src/b');
});
if (outcome.status !== 'succeeded') throw new Error(JSON.stringify(outcome));
process.stdout.write(`${count()}\n`);
process.exit(0);
