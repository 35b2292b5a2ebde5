import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemPath } from '@signalbox/state';
import { afterEach, describe, expect, it } from 'vitest';
import { checkGit } from '../src/doctor/version-checks.ts';
import { addWorktree, git as ourGit } from '../src/workspaces/git.ts';
import { git, gitRepository } from './support/git-repository.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const mark = path.join(folder, 'ran');
const before = process.env.PATH;
afterEach(() => {
  process.env.PATH = before;
});

/** A program that says that it ran, and then does what the real one does. */
function plant(file: string): string {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\necho "$0" >> '${mark}'\nexec cat\n`, { mode: 0o755 });
  return file;
}

describe('programs that an agent planted', () => {
  it('[S171] are not run where git is asked for, whatever comes first on the PATH', async () => {
    const repository = gitRepository(path.join(folder, 'path'), { 'a.txt': 'a' });
    const bin = path.join(repository, 'node_modules', '.bin');
    for (const name of ['git', 'sh', 'cat', 'git-rev-parse']) plant(path.join(bin, name));
    process.env.PATH = `${bin}:${before}`;
    expect(await checkGit()).toMatchObject({ status: 'ok' });
    expect(await ourGit(repository, ['rev-parse', 'HEAD'])).toMatchObject({ code: 0 });
    expect(systemPath().split(':')).not.toContain(bin);
    expect(existsSync(mark)).toBe(false);
  });

  it('[S171] are not run where the repository names them: hooks, monitors, filters, transports', async () => {
    const repository = gitRepository(path.join(folder, 'named'), {
      'a.txt': 'a\n',
      '.gitattributes': '*.txt filter=x\n',
    });
    const program = plant(path.join(repository, 'evil'));
    const hooks = path.join(repository, 'hooks');
    plant(path.join(hooks, 'post-checkout'));
    for (const [key, value] of [
      ['core.hooksPath', hooks],
      ['core.fsmonitor', program],
      ['filter.x.smudge', program],
      ['filter.x.clean', program],
      ['filter.x.required', 'true'],
      ['core.sshCommand', program],
    ] as const) {
      git(repository, 'config', key, value);
    }
    const place = path.join(folder, 'worktree');
    expect(await addWorktree(repository, place, 'HEAD')).toMatchObject({ code: 0 });
    expect(existsSync(path.join(place, 'a.txt'))).toBe(true);
    expect(await ourGit(repository, ['worktree', 'remove', '--force', '--force', place])).toMatchObject({ code: 0 });
    expect(existsSync(mark)).toBe(false);
  });
});
