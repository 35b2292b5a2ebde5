import { lstatSync, statSync } from 'node:fs';
import path from 'node:path';
import { readPlainFile } from '@signalbox/plan/plain-file';
import { git } from './git.ts';

/**
 * The commit that is checked out at a directory; undefined without a repository or before its first commit. Usual repositories are read
 * here, because starting git blocks this thread for 10 ms and more. Git itself is asked about the others.
 */
export async function checkedOutCommit(directory: string): Promise<string | undefined> {
  try {
    const repository = repositoryOf(directory);
    return repository && commitOf(repository);
  } catch {
    const { code, out } = await git(directory, ['rev-parse', 'HEAD']);
    return code === 0 ? out.trim() : undefined;
  }
}

/** The nearest `.git` above a directory, or the folder that such a file names. Throws if git may see it differently. */
function repositoryOf(directory: string): string | undefined {
  for (let at = directory; ; at = path.dirname(at)) {
    const entry = path.join(at, '.git');
    const found = lstatSync(entry, { throwIfNoEntry: false });
    if (found?.isDirectory()) return entry;
    if (found !== undefined) return path.resolve(at, matched(GITDIR, textIn(entry)));
    // Only a repository without a working tree has its files here.
    if (statSync(path.join(at, 'HEAD'), { throwIfNoEntry: false }) !== undefined) throw new Unusual();
    if (at === path.dirname(at)) return undefined;
  }
}

/** Throws if the repository is not a usual one. */
function commitOf(repository: string): string | undefined {
  const head = textIn(path.join(repository, 'HEAD')).trim();
  if (COMMIT.test(head)) return head;
  const branch = matched(BRANCH, head);
  // A linked working tree has its own HEAD; branches are shared.
  const shared = path.resolve(repository, textIn(path.join(repository, 'commondir'), '.').trim());
  const packed = () => textIn(path.join(shared, 'packed-refs'), '').split('\n');
  const named = textIn(path.join(shared, branch), '') || packed().find(line => line.endsWith(` ${branch}`));
  return named && matched(COMMIT, named.split(/\s/)[0] ?? '');
}

const GITDIR = /^gitdir: (.+)\n?$/;
/** Git writes `.invalid` where branches are not kept in files. */
const BRANCH = /^ref: (refs\/heads\/(?!\.invalid$|.*\.\.)[\w./+@-]+)$/;
const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

class Unusual extends Error {}

function matched(pattern: RegExp, text: string): string {
  const [, found] = pattern.exec(text) ?? [];
  if (found === undefined) throw new Unusual();
  return found;
}

function textIn(file: string, otherwise?: string): string {
  try {
    return readPlainFile(file).toString();
  } catch (cause) {
    if (otherwise === undefined || (cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    return otherwise;
  }
}
