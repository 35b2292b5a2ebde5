import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { hostPlanFiles } from './host-plan-files.ts';

function filesIn(setUp: (root: string, folder: string) => void = () => {}) {
  const folder = temporaryFolder();
  const root = path.join(folder, 'root');
  for (const name of ['root', 'root/data', 'outside']) mkdirSync(path.join(folder, name));
  writeFileSync(path.join(folder, 'outside', 'secret.txt'), 'secret');
  writeFileSync(path.join(root, 'data', 'token'), 'token');
  setUp(root, folder);
  let now = Date.now() + 60_000;
  const files = hostPlanFiles({ root, refused: [path.join(root, 'data')], now: () => now });
  return { root, folder, files, at: (ms: number) => (now = ms) };
}

describe('the files of a run on this machine', () => {
  it('[A75] are read, listed, looked at and written under the root', () => {
    const { root, files } = filesIn(place => {
      mkdirSync(path.join(place, 'a'));
      writeFileSync(path.join(place, 'a', 'b.txt'), 'text');
      symlinkSync('a', path.join(place, 'link'));
    });
    expect(files.read('link/b.txt')?.toString()).toBe('text');
    expect([files.list('.'), files.list('a/none'), files.list('a/b.txt')]).toEqual([
      [
        { name: 'a', kind: 'directory' },
        { name: 'data', kind: 'directory' },
        { name: 'link', kind: 'other' },
      ],
      undefined,
      undefined,
    ]);
    expect([files.stat('a/b.txt'), files.stat('a'), files.stat('none'), files.read('a'), files.read('none')]).toEqual([
      { kind: 'file', bytes: 4 },
      { kind: 'directory', bytes: 0 },
      undefined,
      undefined,
      undefined,
    ]);
    files.write('new/deep/file.txt', 'made');
    files.write('a/b.txt', Buffer.from('other'));
    expect(readFileSync(path.join(root, 'new/deep/file.txt'), 'utf8')).toBe('made');
    expect(readFileSync(path.join(root, 'a/b.txt'), 'utf8')).toBe('other');
  });

  it('[A75] are never a pipe, and a file with several names is written under the one only', () => {
    const { root, folder, files } = filesIn((place, around) => {
      execFileSync('mkfifo', [path.join(place, 'pipe')]);
      linkSync(path.join(around, 'outside', 'secret.txt'), path.join(place, 'linked.txt'));
    });
    expect(() => files.read('pipe')).toThrow('it is not a file');
    expect(() => files.write('pipe', 'x')).toThrow('it is not a file');
    files.write('linked.txt', 'mine');
    expect(readFileSync(path.join(root, 'linked.txt'), 'utf8')).toBe('mine');
    expect(readFileSync(path.join(folder, 'outside', 'secret.txt'), 'utf8')).toBe('secret');
  });

  it.each([
    ['..', '../outside/secret.txt'],
    ['an absolute path', '/etc/passwd'],
    ['a link to a file outside', 'file-link'],
    ['a link to a directory outside', 'directory-link/secret.txt'],
    ['the data directory', 'data/token'],
    ['a link into the data directory', 'data-link'],
    ['a name with a zero', 'a\0b'],
  ])('[A75] are not reached by %s, to read or to write', (_, name) => {
    const { folder, files } = filesIn((root, around) => {
      symlinkSync(path.join(around, 'outside', 'secret.txt'), path.join(root, 'file-link'));
      symlinkSync(path.join(around, 'outside'), path.join(root, 'directory-link'));
      symlinkSync(path.join(root, 'data', 'token'), path.join(root, 'data-link'));
    });
    for (const look of [files.read, files.list, files.stat, (given: string) => files.write(given, 'x')]) {
      expect(() => look(name)).toThrow();
    }
    expect(readFileSync(path.join(folder, 'outside', 'secret.txt'), 'utf8')).toBe('secret');
  });

  it('[A75] do not change what git keeps, nor pipes, nor the root', () => {
    const { files } = filesIn(root => mkdirSync(path.join(root, '.git')));
    expect(() => files.write('.git/config', 'x')).toThrow();
    expect(() => files.write('.', 'x')).toThrow();
  });

  it('[A76] tell by a mark that something may be another; lately changed, a mark tells nothing', () => {
    const { root, files, at } = filesIn(place => writeFileSync(path.join(place, 'a'), 'one'));
    const before = files.mark('a');
    expect([before.isFresh, files.mark('a'), files.mark('none')]).toEqual([
      false,
      before,
      { text: 'absent', isFresh: false },
    ]);
    writeFileSync(path.join(root, 'a'), 'two');
    expect(files.mark('a').text).not.toBe(before.text);
    at(Date.now());
    writeFileSync(path.join(root, 'a'), 'six');
    expect(files.mark('a').isFresh).toBe(true);
  });
});
