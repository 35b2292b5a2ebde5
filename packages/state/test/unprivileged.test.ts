import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory, treeOf } from './builders.ts';

const NOBODY = 65534;
let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => {
  fs.chmodSync(`${directory.path}/locked`, 0o755);
  fs.chmodSync(`${directory.path}/removed`, 0o755);
  fs.chmodSync(`${directory.path}/unreadable`, 0o755);
  directory.remove();
});

describe('somebody who is not root', () => {
  it('[S19] gets back directories that do not let themselves be written, and is not stopped by those that cannot be read', () => {
    const root = directory.path;
    for (const name of ['locked', 'removed', 'unreadable']) fs.mkdirSync(`${root}/${name}`);
    fs.writeFileSync(`${root}/locked/gone`, 'x', { mode: 0o400 });
    fs.writeFileSync(`${root}/removed/gone`, 'x');
    fs.writeFileSync(`${root}/secret`, 'x');
    fs.chmodSync(`${root}/secret`, 0o000);
    const asRoot = process.getuid?.() === 0;
    const own = ['', '/locked', '/locked/gone', '/removed', '/removed/gone', '/unreadable', '/secret'];
    for (const name of asRoot ? own : []) fs.chownSync(root + name, NOBODY, NOBODY);
    fs.chmodSync(`${root}/locked`, 0o555);
    fs.chmodSync(`${root}/removed`, 0o500);
    const before = asRoot ? treeOf(root) : null;
    fs.chmodSync(`${root}/unreadable`, 0o000);

    const child = path.join(import.meta.dirname, 'unprivileged-child.ts');
    const who = asRoot ? { uid: NOBODY, gid: NOBODY } : {};
    const ended = spawnSync('node', [child, root], { encoding: 'utf8', ...who });
    expect(ended.stderr).toBe('');
    expect(JSON.parse(ended.stdout)).toMatchObject({ status: 'failed', rollback: { kind: 'restored', lost: [] } });
    expect(fs.readdirSync(root).sort()).toEqual(['locked', 'removed', 'secret', 'unreadable']);
    expect(fs.statSync(`${root}/locked`).mode & 0o777).toBe(0o555);
    if (before !== null) {
      fs.chmodSync(`${root}/unreadable`, 0o755);
      expect(treeOf(root)).toEqual(before);
    }
  });
});
