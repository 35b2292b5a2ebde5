// Collects sessions as if it were the year 2100.
//   node collect-child.ts DIRECTORY STEP
// Kills its own process before its STEPth move or removal; a tree is removed half before that.
import { rmSync } from 'node:fs';
import path from 'node:path';
import { hostDisk } from '@signalbox/journal';
import { interceptedDisk, killThisProcess } from '@signalbox/testkit';
import { collectSessions } from '../../src/index.ts';
import { ports } from './ports.ts';

const [dataDirectory = '', at = '-1'] = process.argv.slice(2);
let steps = 0;
const isHere = () => steps++ === Number(at);
const disk = interceptedDisk(hostDisk, (operation, _path, run) => {
  if (operation === 'rename' && isHere()) killThisProcess();
  return run();
});
const remove = (target: string) => {
  if (isHere()) {
    rmSync(path.join(target, 'events'), { recursive: true, force: true });
    killThisProcess();
  }
  rmSync(target, { recursive: true, force: true });
};
const clock = { now: () => Date.parse('2100-01-01T00:00:00Z') };
const collected = await collectSessions({ dataDirectory, ports, disk, clock, remove, dryRun: false });
if (!collected.ok) throw new Error(collected.error.message);
console.log(JSON.stringify(collected.value));
