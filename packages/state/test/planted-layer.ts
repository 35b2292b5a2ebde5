import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { afterEach, beforeEach } from 'vitest';
import { temporaryDirectory } from './builders.ts';
import { hasLayers, type LayeredPlace, openLayered, usedLayers } from './layered.ts';

export let directory: ReturnType<typeof temporaryDirectory>;
export let place: LayeredPlace;
export let root: string;

/** A place with some files in it for each test of a file. */
export function plantEach(): void {
  beforeEach(async () => {
    directory = temporaryDirectory();
    if (!hasLayers) return;
    place = await openLayered(fs.realpathSync(directory.path));
    root = place.root;
    fs.mkdirSync(`${root}/src/deep`, { recursive: true });
    fs.mkdirSync(`${root}/old`);
    fs.writeFileSync(`${root}/src/a`, 'a');
    fs.writeFileSync(`${root}/src/b`, 'b');
    fs.writeFileSync(`${root}/src/deep/c`, 'c');
    fs.writeFileSync(`${root}/old/x`, 'x');
    fs.writeFileSync(`${root}/old/y`, 'y');
    fs.symlinkSync('a', `${root}/src/link`);
  });
  afterEach(() => {
    try {
      execFileSync('chmod', ['-R', 'u+rwx', directory.path]);
    } catch {
      // What a link leads nowhere for cannot be changed.
    }
    directory.remove();
  });
}

export const read = (path: string) => fs.readFileSync(`${root}/${path}`, 'utf8');
export const write = (path: string, text: string) => fs.writeFileSync(`${root}/${path}`, text);
/** As editors save: a new file takes the place of the old one. */
export const save = (path: string, text: string) => {
  write(`${path}~`, text);
  fs.renameSync(`${root}/${path}~`, `${root}/${path}`);
};
export const layersLeft = () => usedLayers(`${place.data}/layers`).length;
