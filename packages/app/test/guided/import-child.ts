// Imports a bundle.
//   node import-child.ts DIRECTORY FILE [before|after OPERATION]
// With an operation of the disk it kills its own process there. It prints how many it made, and which one moved the session into place.
import { readFileSync } from 'node:fs';
import { hostDisk } from '@signalbox/journal';
import { interceptedDisk, killThisProcess } from '@signalbox/testkit';
import { importSession } from '../../src/guided/index.ts';
import { thisMachine } from '../../src/machine.ts';

const [dataDirectory = '', file = '', when, at = '-1'] = process.argv.slice(2);
let operations = 0;
let placed = -1;
const disk = interceptedDisk(hostDisk, (operation, path, run) => {
  const here = operations++;
  if (operation === 'rename' && /\/sessions\/[0-9a-f-]{36}$/.test(path)) placed = here;
  if (here === Number(at) && when === 'before') killThisProcess();
  const result = run();
  if (here === Number(at) && when === 'after') killThisProcess();
  return result;
});
const { clock, ids } = thisMachine();
const imported = await importSession({ dataDirectory, disk, clock, ids }, readFileSync(file, 'utf8'));
if (!imported.ok) throw new Error(imported.error.message);
console.log(JSON.stringify({ operations, placed }));
