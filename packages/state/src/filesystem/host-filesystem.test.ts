import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { ok } from '@signalbox/model';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { must, openTestFilesystem, temporaryDirectory, treeOf } from '../../test/builders.ts';
import { restoreAll } from '../snapshots/two-phase-restore.ts';
import { createMemoryContentStore } from './content-store.ts';
import type { FilesystemSnapshot } from './filesystem.ts';
import { nodeHostFiles } from './host-files.ts';
import type { HostFilesystem } from './host-filesystem.ts';
import { nameFromBytes, nameFromJson, nameToJson, osPath, shownPath } from './path-name.ts';
import { stagingName } from './staging-name.ts';
import { nodeAt, withNode } from './tree.ts';

let root: string;
let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
  root = `${directory.path}/root`;
  fs.mkdirSync(root);
});
afterEach(() => directory.remove());

let restores = 0;
/** Restores as a call does that has just failed. */
function undo(files: HostFilesystem, snapshot: FilesystemSnapshot) {
  return restoreAll([() => files.stage(snapshot, { id: `undo ${++restores}`, left: 'present' })]);
}
/** Restores as somebody does later, when others may have been at work. */
function undoLater(files: HostFilesystem, snapshot: FilesystemSnapshot) {
  return restoreAll([() => files.stage(snapshot, { id: `undo ${++restores}`, left: 'known' })]);
}

describe('credentials in a root', () => {
  it('[S160] are not read, listed, changed or moved, under their names or through links', async () => {
    fs.writeFileSync(`${root}/.netrc`, 'machine');
    fs.mkdirSync(`${root}/.ssh`);
    fs.writeFileSync(`${root}/.ssh/id_rsa`, 'key');
    fs.symlinkSync('.ssh', `${root}/keys`);
    fs.writeFileSync(`${root}/notes`, 'notes');
    const files = openTestFilesystem(root);
    const refused = { ok: false, error: { message: expect.stringContaining('credentials') } };
    for (const path of ['.netrc', '.ssh/id_rsa', 'keys/id_rsa', './.ssh/../.netrc']) {
      expect(await files.read(path), path).toMatchObject({ ok: false });
      expect(await files.write(path, Buffer.from('x')), path).toMatchObject({ ok: false });
    }
    expect(await files.read('.netrc')).toMatchObject(refused);
    expect(await files.list('.ssh')).toMatchObject(refused);
    expect(await files.rename('.ssh', 'open')).toMatchObject(refused);
    expect(Buffer.from(must(await files.read('notes'))).toString()).toBe('notes');
    expect(fs.readFileSync(`${root}/.netrc`, 'utf8')).toBe('machine');
  });
});

describe('restoring a directory', () => {
  it('[S19] ignored files, empty directories, modes, links and nested trees come back; new files go away', async () => {
    fs.writeFileSync(`${root}/.gitignore`, '.env\ndist\n');
    fs.writeFileSync(`${root}/.env`, 'SECRET=1', { mode: 0o600 });
    fs.mkdirSync(`${root}/dist/deep/empty`, { recursive: true });
    fs.writeFileSync(`${root}/dist/run.sh`, '#!/bin/sh', { mode: 0o755 });
    fs.symlinkSync('dist/run.sh', `${root}/run`);
    fs.symlinkSync('nowhere', `${root}/dangling`);
    fs.mkdirSync(`${root}/locked`, { mode: 0o500 });
    const files = openTestFilesystem(root);
    const before = treeOf(root);
    const snapshot = must(await files.snapshot());

    fs.rmSync(`${root}/dist`, { recursive: true });
    fs.writeFileSync(`${root}/dist`, 'a file now');
    fs.rmSync(`${root}/.env`);
    fs.mkdirSync(`${root}/.env`);
    fs.rmSync(`${root}/run`);
    fs.symlinkSync('elsewhere', `${root}/run`);
    fs.chmodSync(`${root}/locked`, 0o755);
    fs.writeFileSync(`${root}/locked/new`, 'x');
    fs.mkdirSync(`${root}/new/deep`, { recursive: true });
    must(await undo(files, snapshot));

    expect(treeOf(root)).toEqual(before);
  });

  it('[S108] what somebody else has under the name of the staging directory stays, and another name is used', async () => {
    fs.writeFileSync(`${root}/a`, 'before');
    const files = openTestFilesystem(root);
    const snapshot = must(await files.snapshot());
    fs.writeFileSync(`${root}/a`, 'after');
    const usual = stagingName(`${fs.realpathSync(root)}\ntaken`);
    for (const name of [usual, `${usual}-done`, `${usual}-2-new`]) fs.mkdirSync(`${root}/${name}`);
    fs.writeFileSync(`${root}/${usual}/theirs`, 'theirs');
    const now = must(await files.snapshot());
    must(
      await restoreAll([
        () =>
          files.stage(
            { tree: withNode(now.tree, ['a'], nodeAt(snapshot.tree, ['a'])) },
            { id: 'taken', left: 'known' },
          ),
      ]),
    );
    expect(treeOf(root)).toEqual({
      './a': 'file 644 before',
      [`./${usual}`]: 'directory 755',
      [`./${usual}/theirs`]: 'file 644 theirs',
      [`./${usual}-done`]: 'directory 755',
      [`./${usual}-2-new`]: 'directory 755',
    });
  });

  it('[S20] names with newlines and names that are not UTF-8 come back byte for byte', async () => {
    const names = [
      Buffer.from('new\nline'),
      Buffer.from([0x66, 0xff, 0xfe]),
      Buffer.from([0xc3, 0xa9]),
      Buffer.from([0xed, 0xa0, 0x80]),
    ];
    const at = (name: Buffer) => Buffer.concat([Buffer.from(`${root}/`), name]);
    for (const name of names) fs.writeFileSync(at(name), Buffer.from([0, 255, 10, 128]));
    fs.symlinkSync(Buffer.from([0xfe, 0x2f, 0xff]), at(Buffer.from([0xfe])));
    const files = openTestFilesystem(root);
    const before = treeOf(root);
    const snapshot = must(await files.decode(await files.encode(must(await files.snapshot()))));
    for (const name of [...names, Buffer.from([0xfe])]) fs.rmSync(at(name));
    must(await undo(files, snapshot));
    expect(treeOf(root)).toEqual(before);
  });

  it('[S20] a name is its bytes, whatever they are', () => {
    for (const bytes of [
      [0xff],
      [0xe2, 0x82],
      [0xf0, 0x9f, 0x98, 0x80],
      [0xed, 0xb3, 0xbf],
      [0x61, 0xc0, 0x62],
      [0xef, 0xbb, 0xbf, 0x61],
    ]) {
      const name = nameFromBytes(Uint8Array.from(bytes));
      expect([...Buffer.from(osPath(name))]).toEqual(bytes);
      expect(nameFromJson(nameToJson(name))).toBe(name);
      expect(nameToJson(name).isWellFormed()).toBe(true);
    }
    expect(nameFromJson(nameToJson('=plain'))).toBe('=plain');
    expect(shownPath('a\n\udcff')).toBe('a\\n\\xff');
  });

  it('[S20] a file that does not fit into one chunk comes back byte for byte', async () => {
    const content = Buffer.alloc(9 << 20, 'signalbox');
    fs.writeFileSync(`${root}/large`, content);
    const files = openTestFilesystem(root);
    const snapshot = must(await files.snapshot());
    fs.truncateSync(`${root}/large`, 100);
    must(await undo(files, snapshot));
    expect(fs.readFileSync(`${root}/large`).equals(content)).toBe(true);
  });

  it('[S21] a file that did not change is not read again', async () => {
    fs.writeFileSync(`${root}/a`, 'a');
    const store = createMemoryContentStore();
    let puts = 0;
    const counting = {
      ...store,
      put(content: Uint8Array) {
        puts++;
        return store.put(content);
      },
    };
    // The clock says that the files were changed long ago.
    const later = { ...nodeHostFiles, now: () => Date.now() + 60_000 };
    const files = openTestFilesystem(root, { store: counting, files: later });
    const first = must(await files.snapshot());
    const second = must(await files.snapshot());
    expect([puts, second.tree === first.tree]).toEqual([1, true]);
  });

  it('[S21] an edit of the same size within the clock tick of the snapshot is seen, even if its times are set back', async () => {
    fs.writeFileSync(`${root}/a`, 'one');
    const files = openTestFilesystem(root);
    const snapshot = must(await files.snapshot());
    const { atime, mtime } = fs.statSync(`${root}/a`);
    fs.writeFileSync(`${root}/a`, 'two');
    fs.utimesSync(`${root}/a`, atime, mtime);
    must(await undo(files, snapshot));
    expect(fs.readFileSync(`${root}/a`, 'utf8')).toBe('one');
  });

  it('[S22] with declared paths only those are looked at and restored', async () => {
    fs.writeFileSync(`${root}/mine`, 'before');
    fs.writeFileSync(`${root}/other`, 'before');
    const files = openTestFilesystem(root);
    must(await files.snapshot());
    fs.writeFileSync(`${root}/other`, 'changed by someone else');
    const snapshot = must(await files.snapshot({ paths: ['mine', 'new/deep/file'] }));
    fs.writeFileSync(`${root}/mine`, 'after');
    fs.mkdirSync(`${root}/new/deep`, { recursive: true });
    fs.writeFileSync(`${root}/new/deep/file`, 'after');
    const staged = await files.stage(snapshot, { id: 'x', left: 'present', paths: ['mine', 'new/deep/file'] });
    must(await restoreAll([async () => staged]));
    expect(treeOf(root)).toEqual({ './mine': 'file 644 before', './other': 'file 644 changed by someone else' });
  });
});

describe('opaque directories', () => {
  it('[S23] what a call changes in them stays, and is told by name', async () => {
    fs.mkdirSync(`${root}/pkg/node_modules/x`, { recursive: true });
    fs.writeFileSync(`${root}/pkg/node_modules/x/index.js`, '1');
    fs.mkdirSync(`${root}/.git`);
    // As if everything so far had happened a minute before the call.
    const startedAt = Date.now() + 60_000;
    const files = openTestFilesystem(root);
    const before = must(await files.snapshot());
    expect(await files.changedOpaque(before, startedAt)).toEqual([]);
    const changedAt = Date.now();
    fs.writeFileSync(`${root}/pkg/node_modules/x/index.js`, '2');
    expect(await files.changedOpaque(before, changedAt)).toContain('pkg/node_modules');
    must(await undo(files, before));
    expect(fs.readFileSync(`${root}/pkg/node_modules/x/index.js`, 'utf8')).toBe('2');
    fs.rmSync(`${root}/.git`, { recursive: true });
    expect(await files.changedOpaque(before, startedAt)).toEqual(['.git']);
    expect(must(await undo(files, before)).lost).toEqual(['.git']);
  });

  it('[S23] one that was moved, even to a name that is not opaque, is moved back with what is in it', async () => {
    fs.mkdirSync(`${root}/nested/.git/refs`, { recursive: true });
    fs.writeFileSync(`${root}/nested/.git/HEAD`, 'ref: refs/heads/main');
    fs.mkdirSync(`${root}/node_modules/x`, { recursive: true });
    const files = openTestFilesystem(root);
    const before = treeOf(root);
    const snapshot = must(await files.snapshot());
    fs.renameSync(`${root}/nested`, `${root}/moved`);
    fs.renameSync(`${root}/node_modules`, `${root}/moved/backup`);
    const restored = must(await undo(files, snapshot));
    expect([treeOf(root), restored.lost]).toEqual([before, []]);
  });

  it('[S23] one that was moved and made anew is put back in place of the new one', async () => {
    fs.mkdirSync(`${root}/node_modules/old`, { recursive: true });
    const files = openTestFilesystem(root);
    const before = treeOf(root);
    const snapshot = must(await files.snapshot());
    fs.renameSync(`${root}/node_modules`, `${root}/backup`);
    fs.mkdirSync(`${root}/node_modules/new`, { recursive: true });
    const restored = must(await undo(files, snapshot));
    expect([treeOf(root), restored.lost]).toEqual([before, []]);
  });

  it('[S23] one that was deleted is not mistaken for a new directory that got its inode', async () => {
    fs.mkdirSync(`${root}/node_modules`);
    const files = openTestFilesystem(root);
    const snapshot = must(await files.snapshot());
    fs.rmdirSync(`${root}/node_modules`);
    fs.mkdirSync(`${root}/src/mine`, { recursive: true });
    const restored = must(await undo(files, snapshot));
    expect([treeOf(root), restored.lost]).toEqual([{}, ['node_modules']]);
  });

  it('[S23] one that the call itself made goes away', async () => {
    fs.mkdirSync(`${root}/src`);
    const files = openTestFilesystem(root);
    const before = treeOf(root);
    const snapshot = must(await files.snapshot());
    fs.mkdirSync(`${root}/src/node_modules/x`, { recursive: true });
    fs.mkdirSync(`${root}/clone/.git`, { recursive: true });
    must(await undo(files, snapshot));
    expect(treeOf(root)).toEqual(before);
  });

  it('[S23] nested repositories are restored except for what is git’s own', async () => {
    execFileSync('git', ['init', '-q', `${root}/nested`]);
    fs.writeFileSync(`${root}/nested/tracked`, 'before');
    const files = openTestFilesystem(root);
    const before = treeOf(root);
    const snapshot = must(await files.snapshot());
    fs.writeFileSync(`${root}/nested/tracked`, 'after');
    fs.writeFileSync(`${root}/nested/untracked`, 'after');
    must(await undo(files, snapshot));
    expect(treeOf(root)).toEqual(before);
  });
});

describe('conflicts', () => {
  it('[S24] what someone else changed since is not overwritten, and nothing else is restored either', async () => {
    const files = openTestFilesystem(root);
    must(await files.write('a', 'before'));
    must(await files.write('b', 'before'));
    const snapshot = must(await files.snapshot());
    must(await files.write('a', 'by the call'));
    must(await files.write('b', 'by the call'));
    must(await files.snapshot());
    fs.writeFileSync(`${root}/a`, 'by someone else');
    const before = treeOf(root);
    expect(await undoLater(files, snapshot)).toMatchObject({
      ok: false,
      error: { code: 'state/conflict', details: { paths: ['a'], total: 1 } },
    });
    expect(await undoLater(files, snapshot)).toMatchObject({ ok: false, error: { code: 'state/conflict' } });
    expect(treeOf(root)).toEqual(before);
  });

  it('[S22] what was written without a call is part of the next snapshot, also of one that looks at other paths', async () => {
    fs.writeFileSync(`${root}/b`, 'x');
    const files = openTestFilesystem(root);
    must(await files.snapshot());
    must(await files.write('a', 'by the program'));
    const snapshot = must(await files.decode(await files.encode(must(await files.snapshot({ paths: ['b'] })))));
    fs.rmSync(`${root}/a`);
    must(await undo(files, snapshot));
    expect(treeOf(root)).toEqual({ './a': 'file 644 by the program', './b': 'file 644 x' });
  });

  it('[S24] a file that appears in a directory which the undo would remove is a conflict', async () => {
    const files = openTestFilesystem(root);
    const snapshot = must(await files.snapshot());
    must(await files.write('new/mine', 'x'));
    must(await files.snapshot());
    fs.writeFileSync(`${root}/new/theirs`, 'y');
    expect(await undoLater(files, snapshot)).toMatchObject({
      ok: false,
      error: { details: { paths: ['new/theirs'] } },
    });
    expect(fs.readFileSync(`${root}/new/theirs`, 'utf8')).toBe('y');
  });

  it('[S24] a change between staging and applying is a conflict, and nothing is left behind', async () => {
    const files = openTestFilesystem(root);
    must(await files.write('a', 'before'));
    const snapshot = must(await files.snapshot());
    fs.writeFileSync(`${root}/a`, 'by the call');
    const staged = must(await files.stage(snapshot, { id: 'late', left: 'present' }));
    fs.writeFileSync(`${root}/a`, 'by a process that the call left');
    expect(await staged.apply()).toMatchObject({ ok: false, error: { code: 'state/conflict' } });
    expect(treeOf(root)).toEqual({ './a': 'file 644 by a process that the call left' });
  });

  it('[S25] what others changed elsewhere stays', async () => {
    const files = openTestFilesystem(root);
    must(await files.write('mine', 'before'));
    must(await files.write('theirs', 'before'));
    const snapshot = must(await files.snapshot());
    must(await files.write('mine', 'by the call'));
    must(await files.snapshot());
    fs.writeFileSync(`${root}/theirs`, 'by someone else');
    fs.writeFileSync(`${root}/new`, 'by someone else');
    must(await undoLater(files, snapshot));
    expect(treeOf(root)).toEqual({
      './mine': 'file 644 before',
      './new': 'file 644 by someone else',
      './theirs': 'file 644 by someone else',
    });
  });
});

describe('restores that fail', () => {
  const full = () => {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  };

  it('[S29] a disk that is full while staging changes nothing, says so, and the restore can be run again', async () => {
    let isFull = false;
    const files = openTestFilesystem(root, {
      files: { ...nodeHostFiles, create: (path, mode) => (isFull ? full() : nodeHostFiles.create(path, mode)) },
    });
    must(await files.write('a', 'before'));
    const snapshot = must(await files.snapshot());
    must(await files.write('a', 'after'));
    isFull = true;
    const after = treeOf(root);
    expect(await undo(files, snapshot)).toMatchObject({
      ok: false,
      error: { code: 'state/restore-failed', onDisk: { state: 'unchanged' } },
    });
    expect(treeOf(root)).toEqual(after);
    isFull = false;
    must(await undo(files, snapshot));
    expect(treeOf(root)).toEqual({ './a': 'file 644 before' });
  });

  it('[S29] a restore that cannot be made durable changes nothing, and can be run again', async () => {
    let isBroken = false;
    const files = openTestFilesystem(root, {
      files: { ...nodeHostFiles, sync: async path => (isBroken ? full() : nodeHostFiles.sync(path)) },
    });
    must(await files.write('a', 'before'));
    const snapshot = must(await files.snapshot());
    must(await files.begin({ id: 'call', tool: 'test', before: snapshot }));
    fs.writeFileSync(`${root}/a`, 'after');
    const after = treeOf(root);
    isBroken = true;
    const how = { id: 'call', left: 'present' as const };
    expect(await must(await files.stage(snapshot, how)).apply()).toMatchObject({
      ok: false,
      error: { code: 'state/restore-failed', onDisk: { state: 'unchanged' } },
    });
    expect(treeOf(root)).toEqual(after);
    isBroken = false;
    const again = must(await files.stage(snapshot, how));
    must(await again.apply());
    await again.finish();
    expect(treeOf(root)).toEqual({ './a': 'file 644 before' });
  });

  it('[S15] a restore that fails at any of its renames is taken back completely', async () => {
    for (let failAt = 1; ; failAt++) {
      fs.rmSync(root, { recursive: true });
      fs.mkdirSync(`${root}/dir`, { recursive: true });
      let renames = 0;
      let armed = false;
      const files = openTestFilesystem(root, {
        files: {
          ...nodeHostFiles,
          rename: (from, to) => (armed && ++renames === failAt ? full() : nodeHostFiles.rename(from, to)),
        },
      });
      fs.writeFileSync(`${root}/a`, 'before');
      fs.writeFileSync(`${root}/dir/b`, 'before');
      const snapshot = must(await files.snapshot());
      fs.writeFileSync(`${root}/a`, 'after');
      fs.rmSync(`${root}/dir`, { recursive: true });
      fs.mkdirSync(`${root}/new/deep`, { recursive: true });
      const after = treeOf(root);
      armed = true;
      const staged = must(await files.stage(snapshot, { id: 'failing', left: 'present' }));
      const applied = await staged.apply();
      if (applied.ok) {
        expect(failAt).toBeGreaterThan(4);
        return;
      }
      expect(applied).toMatchObject({ error: { code: 'state/restore-failed', onDisk: { state: 'unchanged' } } });
      expect(treeOf(root)).toEqual(after);
    }
  });

  it('[S15] if taking back fails too, the error names what is restored, what is not, and where the rest is', async () => {
    let renames = 0;
    let armed = false;
    const files = openTestFilesystem(root, {
      files: {
        ...nodeHostFiles,
        rename: (from, to) => (armed && ++renames > 3 ? full() : nodeHostFiles.rename(from, to)),
      },
    });
    for (const name of ['a', 'b']) fs.writeFileSync(`${root}/${name}`, 'before');
    const snapshot = must(await files.snapshot());
    for (const name of ['a', 'b']) fs.writeFileSync(`${root}/${name}`, 'after');
    const staged = must(await files.stage(snapshot, { id: 'stuck', left: 'present' }));
    armed = true;
    const applied = await staged.apply();
    expect(applied).toMatchObject({
      ok: false,
      error: { code: 'state/restore-failed', onDisk: { state: 'partly-restored', notRestored: ['a', 'b'] } },
    });
    const onDisk = !applied.ok && 'onDisk' in applied.error ? applied.error.onDisk : undefined;
    const staging = onDisk?.state === 'partly-restored' ? onDisk.staging : '';
    const kept = fs
      .readdirSync(`${root}/${staging}`)
      .map(name => fs.readFileSync(`${root}/${staging}/${name}`, 'utf8'));
    expect(kept.sort()).toEqual(['after', 'after', 'before', 'before']);
  });
});

describe('confinement', () => {
  it('[S30] a path that leaves the root, by dots or by a link, is refused', async () => {
    fs.writeFileSync(`${directory.path}/secret`, 'x');
    fs.symlinkSync('../secret', `${root}/link`);
    fs.symlinkSync('..', `${root}/up`);
    fs.symlinkSync('inside', `${root}/fine`);
    fs.writeFileSync(`${root}/inside`, 'y');
    const files = openTestFilesystem(root);
    for (const path of [
      '../secret',
      '/etc/passwd',
      'a/../../secret',
      'link',
      'up/secret',
      `up/root/../secret`,
      'a\0b',
    ]) {
      expect(await files.read(path)).toMatchObject({ ok: false, error: { code: 'state/path-refused' } });
      expect(await files.write(path, 'z')).toMatchObject({ ok: false, error: { code: 'state/path-refused' } });
    }
    expect(fs.readFileSync(`${directory.path}/secret`, 'utf8')).toBe('x');
    expect(Buffer.from(must(await files.read('fine'))).toString()).toBe('y');
    expect(await files.remove('link')).toEqual(ok(undefined));
  });

  it('[S30] the data directory is refused, is never looked into, and cannot hold a root', async () => {
    fs.mkdirSync(`${root}/data/inner`, { recursive: true });
    fs.writeFileSync(`${root}/data/token`, 'secret');
    fs.symlinkSync('data', `${root}/shortcut`);
    const files = openTestFilesystem(root, { dataDirectory: `${root}/data` });
    for (const path of ['data/token', 'shortcut/token', 'data']) {
      expect(await files.write(path, 'x')).toMatchObject({ ok: false, error: { code: 'state/path-refused' } });
    }
    const snapshot = must(await files.snapshot());
    expect(snapshot.tree.entries.get('data')).toMatchObject({ kind: 'opaque' });
    expect(() => openTestFilesystem(`${root}/data/inner`, { dataDirectory: `${root}/data` })).toThrow('off limits');
  });

  it('[S30] other directories can be refused like the data directory', async () => {
    for (const name of ['data', 'keys']) fs.mkdirSync(`${root}/${name}`);
    const files = openTestFilesystem(root, { dataDirectory: `${root}/data`, refused: [`${root}/keys`, '/no-such'] });
    expect(files.refused).toEqual(['data', 'keys'].map(name => `${fs.realpathSync(root)}/${name}`));
    expect(await files.write('keys/new', 'x')).toMatchObject({ ok: false, error: { code: 'state/path-refused' } });
    expect(must(await files.snapshot()).tree.entries.get('keys')).toMatchObject({ kind: 'opaque' });
  });

  it('[S30] a failing call that writes into, or moves, the data directory does not lose it', async () => {
    fs.mkdirSync(`${root}/dir/data`, { recursive: true });
    fs.writeFileSync(`${root}/dir/data/token`, 'secret');
    const files = openTestFilesystem(root, { dataDirectory: `${root}/dir/data` });
    const before = treeOf(root);
    const snapshot = must(await files.snapshot());
    const paths = ['dir/data/token', 'dir/data/new'];
    const staged = must(await files.stage(snapshot, { id: 'declared', left: 'present', paths }));
    must(await staged.apply());
    await staged.finish();
    expect(treeOf(root)).toEqual(before);
    fs.renameSync(`${root}/dir`, `${root}/moved`);
    must(await undo(files, snapshot));
    expect(treeOf(root)).toEqual(before);
  });

  it('[S30] changes inside an opaque directory are refused, because they could not be undone', async () => {
    fs.mkdirSync(`${root}/.git/hooks`, { recursive: true });
    const files = openTestFilesystem(root);
    expect(await files.write('.git/hooks/pre-commit', 'x')).toMatchObject({
      ok: false,
      error: { code: 'state/path-refused' },
    });
    expect(must(await files.list('.git'))).toHaveLength(1);
  });
});
