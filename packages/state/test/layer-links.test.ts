import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { rollbackToTool, undoCall } from '../src/index.ts';
import { must, treeOf } from './builders.ts';
import { hasLayers } from './layered.ts';
import { directory, place, plantEach, root } from './planted-layer.ts';

plantEach();

/** What a call does to the file `$1`, so that one file has several names, or had them. */
const LINKS = {
  linked: 'ln "$1" "$1.b"',
  'linked and renamed': 'ln "$1" "$1.a"; mv "$1.a" "$1.b"',
  'linked over another': 'echo other > "$1.b"; ln -f "$1" "$1.b"',
  'linked, the first name replaced': 'ln "$1" "$1.b"; echo new > "$1.a"; mv "$1.a" "$1"',
  'renamed and linked back': 'mv "$1" "$1.b"; ln "$1.b" "$1"',
  'linked, and one name deleted': 'ln "$1" "$1.b"; ln "$1" "$1.a"; rm "$1.a"',
};

/** What a later call does to one of the names. */
const CHANGES = {
  directory: 'rm -rf "$1"; mkdir "$1"; echo again > "$1/again"',
  link: 'rm "$1"; ln -s elsewhere "$1"',
  pipe: 'rm "$1"; mkfifo "$1"',
  deleted: 'rm "$1"',
  replaced: 'echo replaced > "$1.t"; mv "$1.t" "$1"',
  renamed: 'mv "$1" "$1.moved"',
  mode: 'chmod 600 "$1"',
};

describe.skipIf(!hasLayers)('a file with several names', () => {
  const cases = Object.keys(LINKS).flatMap(links =>
    Object.keys(CHANGES).flatMap(change => ['', '.b'].map(name => ({ links, change, name }))),
  );
  const fileOf = ({ links, change, name }: (typeof cases)[number]) => `${links} ${change}${name === '' ? ' a' : ' b'}`;
  const doing = (script: string, path: string) => `one() { ${script}; }; one '${path}'`;

  it("[S180] is nobody else's change for the next call, whatever that call makes of one name", async () => {
    const bare = `${directory.path}/bare`;
    for (const one of cases) fs.writeFileSync(`${root}/${fileOf(one)}`, 'was');
    fs.cpSync(root, bare, { recursive: true, verbatimSymlinks: true });
    const link = cases.map(one => doing(LINKS[one.links as keyof typeof LINKS], fileOf(one))).join('\n');
    const change = cases
      .map(one => doing(CHANGES[one.change as keyof typeof CHANGES], `${fileOf(one)}${one.name}`))
      .join('\n');
    for (const script of [link, change]) {
      expect(await place.run(script)).toMatchObject({ status: 'succeeded' });
      spawnSync('sh', ['-c', script], { cwd: bare });
    }
    // A mode belongs to the file, and a layer gives it to the one name alone.
    const others = ([path]: [string, string]) => !/ mode [ab]/.test(path);
    expect(Object.entries(treeOf(root)).filter(others)).toEqual(Object.entries(treeOf(bare)).filter(others));
  });

  /** Scripts that left one file under two names, the second in a directory of their own: the seeds of `layer-model` that found it. */
  const SEEDS = {
    483: ['mkdir d; printf 2 > d/e', 'touch -d 2002-02-02 a', 'ln -f a d/e'],
    978: ['mkdir b; ln -s b d', 'ln -s d/a h', 'ln -f h d'],
    1001: ['mkdir g; printf 8 > g/h; ln g/h n'],
  };

  it.each(Object.entries(SEEDS))('[S250] is rolled back under each name (seed %s)', async (_, scripts) => {
    const { state, locks } = place;
    const before = treeOf(root);
    expect(await place.run('true')).toMatchObject({ status: 'succeeded' });
    for (const script of scripts) expect(await place.run(script)).toMatchObject({ status: 'succeeded' });
    expect(treeOf(root)).not.toEqual(before);
    must(await rollbackToTool({ state, locks, toolCallId: 'call-1' }));
    expect(treeOf(root)).toEqual(before);
  });

  it('[S250] is removed by a command that removes one name, and the directory with the other', async () => {
    fs.mkdirSync(`${root}/d`);
    fs.writeFileSync(`${root}/a`, 'one');
    fs.linkSync(`${root}/a`, `${root}/d/e`);
    expect(await place.run('rm a; rm -r d')).toMatchObject({ status: 'succeeded' });
    expect(Object.keys(treeOf(root))).not.toEqual(expect.arrayContaining(['a', 'd']));
    const checkpoint = place.checkpoints.get('call-1');
    if (checkpoint === undefined) throw new Error('call-1 has no checkpoint');
    must(await undoCall({ files: place.files, checkpoint, locks: place.locks }));
    expect([fs.readFileSync(`${root}/a`, 'utf8'), fs.readFileSync(`${root}/d/e`, 'utf8')]).toEqual(['one', 'one']);
  });

  it.each(['printf two >> d/e', 'chmod 600 d/e'])(
    '[S250] that somebody changes meanwhile (%s) is a conflict',
    async script => {
      fs.mkdirSync(`${root}/d`);
      fs.writeFileSync(`${root}/a`, 'one');
      fs.linkSync(`${root}/a`, `${root}/d/e`);
      const meanwhile = () => spawnSync('sh', ['-c', script], { cwd: root });
      expect(await place.run('rm a; rm -r d', { meanwhile })).toMatchObject({ rollback: { kind: 'held' } });
      expect(fs.readFileSync(`${root}/d/e`, 'utf8')).toMatch(/^one/);
    },
  );

  it('[S181] stays one file if a command gave it the other name, and becomes two when a later one writes to a name', async () => {
    const files = () => fs.readdirSync(`${root}/old`).map(name => `${name} ${fs.readFileSync(`${root}/old/${name}`)}`);
    const ino = (name: string) => fs.statSync(`${root}/old/${name}`).ino;
    expect(await place.run('ln old/x old/z')).toMatchObject({ status: 'succeeded' });
    expect(ino('x')).toBe(ino('z'));
    expect(await place.run('printf 2 >> old/x')).toMatchObject({ status: 'succeeded' });
    expect(files()).toEqual(['x x2', 'y y', 'z x']);
  });
});
