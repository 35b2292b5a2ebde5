import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { removeAll } from './builders.ts';
import { hasLayers, sandbox } from './layered.ts';

const hasNamespaces = sandbox.ok && sandbox.value.name === 'bubblewrap';
/** Not among the temporary files, of which a command has its own. */
const place = path.join(process.env.SIGNALBOX_TEST_PLACE ?? import.meta.dirname, `.descriptors-${process.pid}`);
const SECRET = ['planted', process.pid, 'beside'].join('-');

beforeAll(() => {
  for (const name of ['root', 'home']) fs.mkdirSync(`${place}/${name}`, { recursive: true });
  fs.writeFileSync(`${place}/home/secret`, SECRET);
});
afterAll(() => removeAll(place));

/** Numbers below, at and far above those that Node closes by itself. */
const NUMBERS = [4, 6, 9, 15, 16, 30, 251, 1000];

describe.skipIf(!hasNamespaces)('descriptors that this process was started with', () => {
  it('[S170] reach no command and no other program that it runs', () => {
    const home = fs.openSync(`${place}/home`, 'r');
    const stdio = Array.from({ length: 1001 }, (_, number) =>
      number === 1 || number === 2 ? 'pipe' : NUMBERS.includes(number) ? home : 'ignore',
    );
    const script = [
      'for fd in /proc/self/fd/*; do readlink $fd; done',
      ...NUMBERS.map(number => `cat /proc/self/fd/${number}/secret; echo x > /proc/self/fd/${number}/planted`),
      'true',
    ].join('; ');
    const child = childScript(import.meta.dirname, 'descriptor-child.ts');
    const ended = spawnSync(process.execPath, [child, place, script], { stdio, encoding: 'utf8' });
    fs.closeSync(home);
    expect(ended.stderr).toBe('');
    const said = ended.stdout.trim().split('\n');
    expect(said.map(line => JSON.parse(line).how)).toEqual([
      'in place',
      'unconfined',
      ...(hasLayers ? ['on a layer'] : []),
      'program',
    ]);
    for (const line of said) {
      expect(line).toContain('/dev/null');
      expect(line).not.toContain(SECRET);
      expect(line).not.toContain(`${place}/home`);
    }
    expect(fs.readdirSync(`${place}/home`)).toEqual(['secret']);
  });
});
