import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { temporaryDirectory } from './builders.ts';

const NOBODY = 65534;
const asRoot = process.getuid?.() === 0;
let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
  const root = directory.path;
  for (const name of ['locked', 'removed', 'unreadable', 'open']) fs.mkdirSync(`${root}/${name}`);
  fs.writeFileSync(`${root}/locked/gone`, 'x', { mode: 0o400 });
  fs.writeFileSync(`${root}/removed/gone`, 'x');
  fs.writeFileSync(`${root}/unreadable/inner`, 'never captured');
  fs.writeFileSync(`${root}/open/file`, 'original');
  fs.writeFileSync(`${root}/secret`, 'x');
  fs.chmodSync(`${root}/secret`, 0o000);
  const own = ['', 'locked', 'locked/gone', 'removed', 'removed/gone', 'open', 'open/file', 'unreadable', 'secret'];
  for (const name of asRoot ? [...own, 'unreadable/inner'] : []) fs.chownSync(`${root}/${name}`, NOBODY, NOBODY);
  fs.chmodSync(`${root}/locked`, 0o555);
  fs.chmodSync(`${root}/removed`, 0o500);
  fs.chmodSync(`${root}/unreadable`, 0o000);
});
afterEach(() => {
  spawnSync('chmod', ['-R', 'u+rwX', directory.path]);
  directory.remove();
});

/** Modes by path, and the contents that can be read. Opens what is closed, and closes it again. */
function picture(root: string): Record<string, string> {
  const shown: Record<string, string> = {};
  const look = (at: string, name: string) => {
    const stat = fs.lstatSync(at);
    fs.chmodSync(at, stat.mode | 0o700);
    const mode = (stat.mode & 0o7777).toString(8);
    shown[name] = stat.isDirectory() ? `directory ${mode}` : `file ${mode} ${fs.readFileSync(at, 'utf8')}`;
    if (stat.isDirectory()) for (const inner of fs.readdirSync(at)) look(`${at}/${inner}`, `${name}/${inner}`);
    fs.chmodSync(at, stat.mode);
  };
  look(root, '.');
  return shown;
}

function run(scenario: string) {
  const child = childScript(import.meta.dirname, 'unprivileged-child.ts');
  const who = asRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const ended = spawnSync('node', [child, directory.path, scenario], { encoding: 'utf8', ...who });
  expect(ended.stderr).toBe('');
  return JSON.parse(ended.stdout);
}

const restored = (lost: readonly string[]) => ({ status: 'failed', rollback: { kind: 'restored', lost } });
const next = { status: 'succeeded' };

describe('somebody who is not root', () => {
  it.each([
    // What was captured comes back; of what could not be, only the mode is known.
    ['directories that may not be written', [], { lost: [] }],
    ['a directory that could not be read', ['secret'], { lost: ['secret'] }],
    ['directories that may not be read', [], { code: 'state/conflict' }],
    ['a root that may not be written', [], { paths: ['.'], lost: [] }],
    ['a root that may not be read', [], undefined],
    ['a directory that may not be searched', [], { paths: ['open'], lost: [] }],
    ['a file that may not be read', [], { paths: ['open/file'] }],
  ])(
    '[S19] [S101] a call makes %s: failed, it is undone; done, work goes on and it can be undone',
    (scenario, lost, undone) => {
      const before = picture(directory.path);
      const told = run(scenario);
      const done = undone === undefined ? [] : [{ status: 'succeeded' }, next];
      expect(told.answers).toMatchObject([restored(lost), next, ...done]);
      if (undone !== undefined) expect(told.undone).toMatchObject(undone);
      if (told.undone?.code === undefined) expect(picture(directory.path)).toEqual(before);
    },
  );

  it('[S116] brings back as their own what belongs to a group they are not in, says so, and can undo what came before', () => {
    // Only root can make it belong to another group.
    if (!asRoot) return expect(process.getuid?.()).not.toBe(0);
    const root = directory.path;
    const foreign = 4242;
    fs.writeFileSync(`${root}/gf`, 'original');
    fs.mkdirSync(`${root}/gd`);
    fs.writeFileSync(`${root}/gd/inner`, 'original');
    for (const name of ['gf', 'gd', 'gd/inner']) fs.chownSync(`${root}/${name}`, NOBODY, foreign);
    fs.chmodSync(`${root}/gd`, 0o2775);
    const before = picture(root);
    const child = childScript(import.meta.dirname, 'foreign-group-child.ts');
    const ended = spawnSync('node', [child, root], { encoding: 'utf8', uid: NOBODY, gid: NOBODY });
    expect(ended.stderr).toBe('');
    const lost = ['gd', 'gd/inner', 'gd/new', 'gf'].map(name => `${name} (its owner or group)`);
    const answers = JSON.parse(ended.stdout);
    for (const answer of answers) answer.lost?.sort();
    expect(answers).toMatchObject([
      { paths: expect.arrayContaining(['gf']), lost },
      { paths: [], lost: [] },
      { paths: expect.arrayContaining(['gf', 'gd/new']), removed: ['gd/new'] },
      { paths: [], lost: [] },
    ]);
    expect(picture(root)).toEqual(before);
  });
});
