// Lives through a disk that fills and empties at each of the given commits, in every way; runs where the disk is mounted.
//   node full-disk-driver.ts FOLDER DISK STRIDE
// Prints, as a line of JSON each, the undisturbed end and then that of every case.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { Bug } from '@signalbox/model';
import { childScript } from '../../../../test/child-script.ts';
import { doneAgain, outcome } from './run-outcome.ts';

const [home = '', disk = '', stride = '1'] = process.argv.slice(2);
const child = childScript(import.meta.dirname, 'full-disk-child.ts');
let folders = 0;

const folder = place();
const undisturbed = life(folder);
if (undisturbed === undefined) throw new Bug('it was killed, though nobody asked for it');
console.log(JSON.stringify({ again: doneAgain(folder), runs: await outcome(folder) }));
remove();
for (let at = 1; at <= undisturbed.commits; at += Number(stride)) {
  for (const how of ['through', 'held', 'after']) {
    const folder = place();
    const first = life(folder, how, String(at));
    rmSync(path.join(disk, 'filler'), { force: true });
    const last = first ?? life(folder);
    const shown = how === 'through' ? { shown: first?.shown } : { wasKilled: first === undefined };
    console.log(
      JSON.stringify({
        at,
        how,
        ...shown,
        ended: last !== undefined,
        again: doneAgain(folder),
        runs: await outcome(folder),
      }),
    );
    remove();
  }
}

/** A folder whose data directory is on the small disk; the side file is not. */
function place(): string {
  folders += 1;
  const folder = path.join(home, String(folders));
  mkdirSync(folder);
  mkdirSync(path.join(disk, 'data'), { mode: 0o700 });
  symlinkSync(path.join(disk, 'data'), path.join(folder, 'data'));
  return folder;
}

function remove(): void {
  rmSync(path.join(disk, 'data'), { recursive: true });
}

function life(
  folder: string,
  ...how: readonly string[]
): { readonly commits: number; readonly shown?: unknown } | undefined {
  const ended = spawnSync(process.execPath, [child, folder, disk, ...how], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (ended.signal === 'SIGKILL') return undefined;
  if (ended.status !== 0) throw new Bug(`a child ended with ${ended.status}`);
  return JSON.parse(ended.stdout);
}
