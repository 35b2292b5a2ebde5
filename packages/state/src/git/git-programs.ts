import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { whileOpen } from '../filesystem/closed-paths.ts';
import { namesIn, statIfThere } from '../filesystem/directory-names.ts';
import { isWithin } from '../filesystem/path-locks.ts';
import { osPath } from '../filesystem/path-name.ts';
import { isHarmless, readGitConfig } from './git-config.ts';
import { type GitPlace, gitPlacesAt, isDotGit, isInnerRepository } from './git-places.ts';
import type { WatchedPlaces } from './git-watch.ts';

/** Something that git would run, or would read its configuration from, because of a change. */
export interface GitProgram {
  readonly path: string;
  /** What git would do, in words for people. */
  readonly says: string;
}

/** A directory as it is, or as a layer shows it: the same paths at two places. */
export interface GitView {
  /** Where it is now. */
  readonly at: string;
  /** Where git will find it. */
  readonly root: string;
}

/**
 * What changes would make git run that it does not run now. Anyone who uses git in the directory runs it, outside of every sandbox, often
 * without knowing: prompts and editors ask git for its status.
 *
 * 1. Only differences count: what the person's own configuration and hooks do is theirs.
 * 2. What cannot be read or understood counts.
 * 3. Ordinary work with git (commits, branches, remotes, a name, new repositories) adds nothing.
 */
export async function newGitPrograms(
  before: GitView,
  after: GitView,
  changed: readonly string[],
  watched: WatchedPlaces,
): Promise<readonly GitProgram[]> {
  const uses = await gitUses(after, changed, watched);
  // Most changes concern nothing that git uses, before or after.
  return differences(await gitUses(before, changed, watched), uses);
}

/** What git uses at some paths, and in the repositories that they belong to. */
export async function gitUses(
  view: GitView,
  paths: readonly string[],
  watched: WatchedPlaces,
): Promise<readonly GitUse[]> {
  const found: GitUse[] = [];
  const places = new Map<string, GitPlace>();
  for (const one of paths) {
    for (const place of gitPlacesAt(one)) places.set(place.directory, place);
    if (isDotGit(one)) found.push(...pointer(view, one));
    const says = watched.runs(one);
    const picture = says === undefined ? undefined : pictureOf(view, one);
    if (says !== undefined && picture !== undefined) found.push({ path: one, says, identity: `${one}\n${picture}` });
    if (watched.configs.has(one)) found.push(...(await config(view, one)));
  }
  for (const place of places.values()) found.push(...(await programs(view, place)));
  return [...new Map(found.map(one => [`${one.identity}\n${one.says}`, one])).values()];
}

/** Something that git uses; `identity` distinguishes two versions of it. */
export interface GitUse extends GitProgram {
  readonly identity: string;
  /** Whether git runs something else without it. */
  readonly matters?: true;
}

export function differences(before: readonly GitUse[], after: readonly GitUse[]): readonly GitProgram[] {
  const [had, has] = [before, after].map(uses => new Set(uses.map(({ identity }) => identity))) as [
    Set<string>,
    Set<string>,
  ];
  const added = after.filter(({ identity }) => !had.has(identity));
  const removed = before.filter(({ identity, matters }) => matters === true && !has.has(identity));
  const all = [...added, ...removed.map(({ path, says }) => ({ path, says: `no longer ${says}` }))];
  // The last of several entries wins.
  const ordered = (uses: readonly GitUse[]) => uses.filter(({ matters }) => matters === true);
  const isReordered = ordered(before).some(({ identity }, at) => identity !== ordered(after)[at]?.identity);
  return [...all, ...(all.length === 0 && isReordered ? ordered(after) : [])].map(({ path, says }) => ({ path, says }));
}

/** What git uses of a repository. */
async function programs(view: GitView, { directory, mayBeBare }: GitPlace): Promise<readonly GitUse[]> {
  const kind = kindAt(view, directory);
  if (kind !== 'directory') return mayBeBare ? [] : links(view, directory);
  if (mayBeBare && !hasShape(view, directory)) return [];
  const inside = (name: string) => (directory === '' ? name : `${directory}/${name}`);
  const uses: GitUse[] = [];
  for (const name of ['config', 'config.worktree']) uses.push(...(await config(view, inside(name))));
  uses.push(...hooks(view, inside('hooks')), ...commonDirectory(view, inside('commondir')));
  for (const name of ['modules', 'worktrees', 'rebase-merge', 'sequencer']) uses.push(...links(view, inside(name)));
  for (const name of ['rebase-merge/git-rebase-todo', 'sequencer/todo']) uses.push(...commands(view, inside(name)));
  for (const name of ['rebase-merge/strategy', 'rebase-merge/strategy_opts', 'sequencer/opts'])
    uses.push(...strategies(view, inside(name)));
  return uses;
}

async function config(view: GitView, at: string): Promise<readonly GitUse[]> {
  const read = contentAt(view, at);
  if (read === undefined) return [];
  if (read.kind !== 'file') return [asUse(at, read)];
  const entries = await readGitConfig(read.content);
  if (entries === undefined)
    return [asUse(at, { kind: 'unknown', words: 'git configuration that cannot be read', picture: read.picture })];
  return entries.flatMap(entry => {
    if (isHarmless(entry)) return [];
    const says = `${entry.key} = ${entry.value}`;
    return [{ path: at, says, identity: `${at}\n${says}`, matters: true as const }];
  });
}

/** Files that are examples by their name are never run. */
function hooks(view: GitView, at: string): readonly GitUse[] {
  const kind = kindAt(view, at);
  if (kind === undefined) return [];
  if (kind !== 'directory') return linkOrOther(view, at);
  const found: GitUse[] = [];
  const look = (directory: string): void => {
    let names: readonly string[];
    try {
      names = whileOpen(`${view.at}/${directory}`, () => namesIn(`${view.at}/${directory}`));
    } catch {
      found.push(asUse(directory, { kind: 'unknown', words: 'hooks that cannot be read', picture: 'unreadable' }));
      return;
    }
    for (const name of names) {
      const one = `${directory}/${name}`;
      if (found.length >= MOST_HOOKS) return;
      if (kindAt(view, one) === 'directory') look(one);
      else if (!name.endsWith('.sample'))
        found.push({ path: one, says: 'a hook', identity: `${one}\n${pictureOf(view, one) ?? ''}` });
    }
  };
  look(at);
  if (found.length >= MOST_HOOKS)
    found.push({ path: at, says: 'more hooks than can be shown', identity: `${at}\n${treeStamp(view, at)}` });
  return found;
}

const MOST_HOOKS = 1000;

/** A hooks directory with too many files is told apart by its own times only. */
function treeStamp(view: GitView, at: string): string {
  const stat = statIfThere(`${view.at}/${at}`);
  return `${stat?.ctimeNs}`;
}

/** A worktree names the repository that it shares configuration and hooks with. */
function commonDirectory(view: GitView, at: string): readonly GitUse[] {
  const read = contentAt(view, at);
  if (read === undefined) return [];
  if (read.kind !== 'file') return [asUse(at, read)];
  const target = Buffer.from(read.content).toString().trim();
  const isUsual = target === '../..' && /(?:^|\/)worktrees\/[^/]+\/commondir$/i.test(at);
  return isUsual
    ? []
    : [{ path: at, says: `git reads configuration and hooks of ${target}`, identity: `${at}\n${target}` }];
}

/** A rebase that is under way runs its commands when somebody continues it. */
function commands(view: GitView, at: string): readonly GitUse[] {
  const read = contentAt(view, at);
  if (read === undefined) return [];
  if (read.kind !== 'file') return [asUse(at, read)];
  const lines = Buffer.from(read.content).toString().split('\n');
  return lines.flatMap(line => {
    const command = /^\s*(?:exec|x)\s+(.*)$/.exec(line)?.[1];
    return command === undefined ? [] : [{ path: at, says: `runs ${command}`, identity: `${at}\n${command}` }];
  });
}

/** A merge strategy that git does not have itself is the name of a program. */
function strategies(view: GitView, at: string): readonly GitUse[] {
  const read = contentAt(view, at);
  if (read === undefined) return [];
  if (read.kind !== 'file') return [asUse(at, read)];
  const text = Buffer.from(read.content).toString().trim();
  const named = at.endsWith('/opts')
    ? (/^\s*strategy\s*=\s*(.*)$/m.exec(text)?.[1] ?? '')
    : at.endsWith('_opts')
      ? ''
      : text;
  if (named === '' || OWN_STRATEGIES.includes(named)) return [];
  return [{ path: at, says: `runs git-merge-${named}`, identity: `${at}\n${named}` }];
}

const OWN_STRATEGIES = ['ort', 'recursive', 'resolve', 'octopus', 'ours', 'subtree'];

/** A `.git` that is a file or a link says where the repository is. Those of submodules and worktrees inside the root are usual. */
function pointer(view: GitView, at: string): readonly GitUse[] {
  const read = kindAt(view, at) === 'directory' ? undefined : contentAt(view, at);
  if (read === undefined) return [];
  if (read.kind !== 'file') return [asUse(at, read)];
  const target = /^gitdir: (.*)$/s.exec(Buffer.from(read.content).toString())?.[1]?.trim() ?? '';
  const full = path.resolve(view.root, path.dirname(at), target);
  const inside = isWithin(full, view.root) ? full.slice(view.root.length + 1) : '';
  if (isInnerRepository(inside)) return [];
  return [{ path: at, says: `git uses the repository at ${target}`, identity: `${at}\n${target}` }];
}

function links(view: GitView, at: string): readonly GitUse[] {
  return kindAt(view, at) === 'link' ? linkOrOther(view, at) : [];
}

function linkOrOther(view: GitView, at: string): readonly GitUse[] {
  const read = contentAt(view, at);
  return read === undefined ? [] : [asUse(at, read)];
}

/** Whether git takes a directory for a repository when somebody works in it. */
function hasShape(view: GitView, directory: string): boolean {
  const has = (name: string) => kindAt(view, directory === '' ? name : `${directory}/${name}`) !== undefined;
  return has('HEAD') && ((has('objects') && has('refs')) || has('commondir'));
}

type Content =
  | { readonly kind: 'file'; readonly content: Uint8Array; readonly picture: string; readonly words: string }
  | { readonly kind: 'link' | 'unknown'; readonly picture: string; readonly words: string };

function asUse(at: string, { words, picture }: Pick<Content, 'words' | 'picture'> & { readonly kind: string }): GitUse {
  return { path: at, says: words, identity: `${at}\n${picture}` };
}

/** Undefined if nothing is there. */
function contentAt(view: GitView, at: string): Content | undefined {
  const full = `${view.at}/${at}`;
  try {
    const stat = statIfThere(full);
    if (stat === undefined || isWhiteout(stat)) return undefined;
    if (stat.isSymbolicLink()) {
      const target = fs.readlinkSync(osPath(full), { encoding: 'buffer' }).toString('latin1');
      return { kind: 'link', picture: `link ${target}`, words: `a link to ${target}` };
    }
    if (!stat.isFile()) return { kind: 'unknown', picture: 'other', words: 'something that is not a file' };
    const mode = (stat.mode & 0o111n) === 0n ? '' : ' executable';
    const content = whileOpen(full, () => fs.readFileSync(osPath(full)));
    const picture = `file${mode} ${createHash('sha256').update(content).digest('hex')}`;
    return { kind: 'file', content, picture, words: 'a file that git does not expect there' };
  } catch {
    return { kind: 'unknown', picture: 'unreadable', words: 'something that cannot be read' };
  }
}

function pictureOf(view: GitView, at: string): string | undefined {
  return kindAt(view, at) === 'directory' ? undefined : contentAt(view, at)?.picture;
}

function kindAt(view: GitView, at: string): 'file' | 'directory' | 'link' | 'other' | undefined {
  let stat: fs.BigIntStats | undefined;
  try {
    stat = statIfThere(at === '' ? view.at : `${view.at}/${at}`);
  } catch {
    return 'other';
  }
  if (stat === undefined || isWhiteout(stat)) return undefined;
  return stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'link' : stat.isFile() ? 'file' : 'other';
}

function isWhiteout(stat: fs.BigIntStats): boolean {
  return stat.isCharacterDevice() && stat.rdev === 0n;
}
