import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { hiddenPlaces, ownFiles } from './hidden-places.ts';

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'hidden-')));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (...parts: readonly string[]) => path.join(folder, ...parts);
for (const one of ['home/ada/.ssh', 'home/ada/app/node_modules/signalbox/dist', 'home/ada/app/src', 'home/bob', 'data'])
  mkdirSync(at(one), { recursive: true });
writeFileSync(at('home/ada/notes'), '');
writeFileSync(at('home/ada/app/node_modules/signalbox/package.json'), '{}');
writeFileSync(at('home/ada/app/node_modules/signalbox/dist/replay-child.js'), '');

describe('what a confined program does not see', () => {
  it('[A284] is everybody’s home, and more', () => {
    expect(hiddenPlaces([], [at('data'), at('none')], [at('home')])).toEqual([at('home'), at('data')]);
  });

  it('[A284] is everything around what it needs, where that lies in a home', () => {
    const entry = at('home/ada/app/node_modules/signalbox/dist/replay-child.js');
    expect(ownFiles(entry, '/usr/bin/node')).toEqual([
      '/usr/bin/node',
      at('home/ada/app/node_modules/signalbox'),
      at('home/ada/app/node_modules'),
    ]);
    expect([...hiddenPlaces(ownFiles(entry, '/usr/bin/node'), [], [at('home')])].toSorted()).toEqual([
      at('home/ada/.ssh'),
      at('home/ada/app/src'),
      at('home/ada/notes'),
      at('home/bob'),
    ]);
  });
});
