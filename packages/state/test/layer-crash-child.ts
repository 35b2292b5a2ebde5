// A process that ends itself, with SIGKILL, before or after the n-th change that applying a layer, or undoing it, makes on disk.
// node layer-crash-child.ts DIRECTORY apply|undo N before|after      prints how many changes there were, if it lives.
import { undoCall } from '../src/index.ts';
import { must } from './builders.ts';
import { crashing } from './crashing-files.ts';
import { openLayered } from './layered.ts';

const [directory = '', scenario = '', at = '0', when = 'before'] = process.argv.slice(2);
const { port, count } = crashing(Number(at), when === 'before');
const place = await openLayered(directory, { files: port });
if (scenario === 'recover') {
  process.stdout.write(`${JSON.stringify(await place.recover())}\n`);
} else if (scenario === 'apply') {
  const outcome = await place.run(process.env.SCRIPT ?? '');
  if (outcome.status !== 'succeeded') throw new Error(JSON.stringify(outcome));
  process.stdout.write('answered\n');
} else {
  const checkpoint = place.checkpoints.get('call-1');
  if (checkpoint === undefined) throw new Error('there is no call to undo');
  must(await undoCall({ files: place.files, checkpoint, locks: place.locks }));
  process.stdout.write('undone\n');
}
process.stdout.write(`${count()}\n`);
