import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';

export function git(directory: string, ...args: readonly string[]): string {
  const env = { ...process.env, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  return execFileSync('git', [...args], { cwd: directory, env, encoding: 'utf8' });
}

/** A repository with a commit of `files`, a hook that would leave a trace, and a file of its own that is not committed. */
export function gitRepository(directory: string, files: Readonly<Record<string, string>>): string {
  mkdirSync(directory, { recursive: true });
  git(directory, 'init', '-q', '-b', 'main');
  for (const [name, text] of Object.entries({ ...files, '.gitignore': 'ignored\n' })) {
    mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
    writeFileSync(path.join(directory, name), text);
  }
  git(directory, 'add', '-A');
  git(directory, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', 'commit', '-q', '-m', 'first');
  const hook = path.join(directory, '.git', 'hooks', 'post-checkout');
  mkdirSync(path.dirname(hook), { recursive: true });
  writeFileSync(hook, '#!/bin/sh\ntouch "$(git rev-parse --git-common-dir)/hook-ran"\n', { mode: 0o755 });
  writeFileSync(path.join(directory, 'own.txt'), 'not committed');
  return directory;
}

/** Everything of a repository but its worktree entries and its objects, by digest. */
export function pictureOf(directory: string): Readonly<Record<string, string>> {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => path.relative(directory, path.join(entry.parentPath, entry.name)))
    .filter(name => !/^\.git\/(?:worktrees|objects)\//.test(name))
    .sort();
  return Object.fromEntries(names.map(name => [name, nodeHasher(readFileSync(path.join(directory, name)))]));
}
