import { constants } from 'node:fs';
import { lstat, open, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import { truncateUtf8, utf8Length } from '@signalbox/model';
import { budgets, type Observed } from '@signalbox/workflow';

/** Facts about an agent's working directory. */
export interface Workspace {
  readonly root: string;
  readonly isRepository: boolean;
  readonly branch?: string;
  readonly headSha?: string;
}

/**
 * Reads git's files of a directory without running git: the repository's configuration can name programs, and a workspace may be anyone's.
 * Undefined if it is not a directory or may not be read: callers cannot tell these apart.
 */
export async function readWorkspace(
  directory: string,
  mayLook: (directory: string) => boolean = () => true,
): Promise<Workspace | undefined> {
  if (!path.isAbsolute(directory) || !mayLook(directory)) return undefined;
  const start = await realpath(directory).catch(() => undefined);
  if (start === undefined || !(await stat(start).catch(() => undefined))?.isDirectory()) return undefined;
  for (let root = start; ; root = path.dirname(root)) {
    const git = await gitDirectory(root, mayLook);
    if (git !== undefined) return { root, isRepository: true, ...(await headOf(git)) };
    if (root === path.dirname(root)) return { root: start, isRepository: false };
  }
}

/** The four observations of a session. Git's facts are certain; the root of a directory outside any repository is a guess. */
export function observationsOf({ root, isRepository, branch, headSha }: Workspace): readonly Observed[] {
  const confidence = isRepository ? 'high' : 'low';
  const observed: Observed[] = [
    { key: 'repo_root_hash', value: { type: 'sha256', value: nodeHasher(root) }, confidence },
  ];
  if (utf8Length(root) <= budgets.path) {
    observed.push({ key: 'repo_root', value: { type: 'path', value: root }, confidence });
  }
  if (branch !== undefined) {
    const isWhole = utf8Length(branch) <= budgets.shortString;
    const value = isWhole ? branch : truncateUtf8(branch, budgets.shortString);
    observed.push({
      key: 'git_branch',
      value: { type: 'short_string', value },
      confidence: isWhole ? 'high' : 'med',
    });
  }
  if (headSha !== undefined) {
    observed.push({ key: 'git_head_sha', value: { type: 'git_sha1', value: headSha }, confidence: 'high' });
  }
  return observed;
}

/** A `.git` file may point anywhere. Its target may be read only if it points back, as that of a worktree does. */
async function gitDirectory(root: string, mayLook: (directory: string) => boolean): Promise<string | undefined> {
  const git = await namedGitDirectory(root);
  if (git === undefined || mayLook(git)) return git;
  const back = (await readSmall(path.join(git, 'gitdir')))?.trim();
  return back === path.join(root, '.git') ? git : undefined;
}

async function namedGitDirectory(root: string): Promise<string | undefined> {
  const dot = path.join(root, '.git');
  const entry = await stat(dot).catch(() => undefined);
  if (entry?.isDirectory() === true) return dot;
  if (entry?.isFile() !== true) return undefined;
  const target = /^gitdir: (.+)$/m.exec((await readSmall(dot)) ?? '')?.[1];
  return target === undefined ? undefined : path.resolve(root, target);
}

const SHA = /^[0-9a-f]{40}$/;

async function headOf(git: string): Promise<Pick<Workspace, 'branch' | 'headSha'>> {
  const head = (await readSmall(path.join(git, 'HEAD')))?.trim() ?? '';
  if (SHA.test(head)) return { headSha: head };
  const ref = /^ref: (refs\/[^\s]+)$/.exec(head)?.[1];
  if (ref === undefined || ref.split('/').includes('..')) return {};
  const branch = ref.replace(/^refs\/heads\//, '');
  const common = path.resolve(git, (await readSmall(path.join(git, 'commondir')))?.trim() ?? '.');
  const loose = (await readSmall(path.join(common, ref)))?.trim() ?? '';
  if (SHA.test(loose)) return { branch, headSha: loose };
  const packed = await readSmall(path.join(common, 'packed-refs'));
  const headSha = packed
    ?.split('\n')
    .find(line => line.endsWith(` ${ref}`))
    ?.slice(0, 40);
  return headSha !== undefined && SHA.test(headSha) ? { branch, headSha } : { branch };
}

/** No ref file of git is larger in practice; of a larger one, the beginning is read. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Undefined if it cannot be read or is not a regular file: a pipe could block. Links, soft or hard, are not followed: one could lead to our
 * own database, and merely closing that would release its locks.
 */
async function readSmall(file: string): Promise<string | undefined> {
  try {
    const named = await lstat(file);
    if (!named.isFile() || named.nlink > 1) return undefined;
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const { size } = await handle.stat().then(found => (found.isFile() ? found : { size: 0 }));
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min(size, MAX_BYTES)), 0, null, 0);
      return buffer.toString('utf8', 0, bytesRead).toWellFormed();
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}
