import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { type Digest, digest } from '@signalbox/model';
import * as z from 'zod';
import type { ContentStore } from '../filesystem/content-store.ts';
import { namesIfReadable, statIfThere } from '../filesystem/directory-names.ts';
import type { HostFiles } from '../filesystem/host-files.ts';
import { isWithin } from '../filesystem/path-locks.ts';
import { nameFromJson, nameToJson, osPath } from '../filesystem/path-name.ts';
import { type DirectoryNode, joined, type TreeNode } from '../filesystem/tree.ts';
import { isDotGit } from './git-places.ts';
import { differences, type GitProgram, type GitUse, gitUses } from './git-programs.ts';
import { type WatchedPlaces, watchedPlaces } from './git-watch.ts';

/**
 * Watches what git would run in a directory while a call works in the directory itself. Repositories are not part of its snapshots, so
 * what names programs in them is remembered here.
 *
 * 1. A call that changes it is not kept: nobody could be asked first.
 * 2. What it left there is set aside under another name that git does not use, never discarded.
 * 3. The picture is durable before the call begins, so that a dead process changes nothing about it.
 */
export interface GitGuard {
  /** The durable picture; absent if the call has declared its paths, which a rollback restores. */
  readonly picture?: Digest;
  /** What git would run now that it did not run before. */
  changed(): Promise<readonly GitProgram[]>;
  /** Brings back what git ran before. Returns the paths of what was set aside. Changes after an instant are left alone. */
  takeBack(programs: readonly GitProgram[], until: number): Promise<readonly string[]>;
}

export interface GuardPorts {
  readonly root: string;
  readonly store: ContentStore;
  readonly files: HostFiles;
  /** The directory as it is now. */
  look(): Promise<DirectoryNode>;
}

/** A guard for a call that declared its paths. */
export async function guardPaths({ root }: Pick<GuardPorts, 'root'>, paths: readonly string[]): Promise<GitGuard> {
  const watched = await watchedPlaces(root);
  const uses = () => gitUses({ at: root, root }, paths, watched);
  const before = await uses();
  return { changed: async () => differences(before, await uses()), takeBack: async () => [] };
}

/** A guard for a call that may change anything. */
export async function guardAll(ports: GuardPorts, tree: DirectoryNode): Promise<GitGuard> {
  const { root } = ports;
  const watched = await watchedPlaces(root);
  const paths = gitPaths(root, tree, watched);
  const before = await gitUses({ at: root, root }, paths, watched);
  const entries = await picturesOf(ports, paths);
  const picture = await ports.store.put(Buffer.from(JSON.stringify({ version: 1, entries })));
  return { ...guardOf(ports, watched, before, entries), picture };
}

/** The guard of a call whose process died. */
export async function guardAgain(ports: GuardPorts, picture: Digest): Promise<GitGuard | undefined> {
  const content = await ports.store.get(picture);
  if (!content.ok) return undefined;
  const { entries } = pictureV1.parse(JSON.parse(Buffer.from(content.value).toString()));
  const copy = fs.mkdtempSync(path.join(tmpdir(), 'signalbox-git-'));
  try {
    for (const entry of entries) await putBack(ports.store, `${copy}/${nameFromJson(entry.path)}`, entry, false);
    const watched = await watchedPlaces(ports.root);
    const paths = entries.map(entry => nameFromJson(entry.path));
    const before = await gitUses({ at: copy, root: ports.root }, paths, watched);
    return guardOf(ports, watched, before, entries);
  } finally {
    fs.rmSync(copy, { recursive: true, force: true });
  }
}

const pictureEntry = z.strictObject({
  path: z.string(),
  mode: z.int(),
  uid: z.int(),
  gid: z.int(),
  /** The content of a file; a link has a target. */
  digest: digest.optional(),
  target: z.string().optional(),
});
type PictureEntry = Readonly<z.infer<typeof pictureEntry>>;
const pictureV1 = z.strictObject({ version: z.literal(1), entries: z.array(pictureEntry) });

function guardOf(
  ports: GuardPorts,
  watched: WatchedPlaces,
  before: readonly GitUse[],
  entries: readonly PictureEntry[],
): GitGuard {
  const { root, files, store } = ports;
  const known = new Map(entries.map(entry => [nameFromJson(entry.path), entry]));
  return {
    async changed() {
      const paths = [...new Set([...known.keys(), ...gitPaths(root, await ports.look(), watched)])];
      return differences(before, await gitUses({ at: root, root }, paths, watched));
    },
    async takeBack(programs, until) {
      const asides: string[] = [];
      for (const at of new Set(programs.map(program => program.path))) {
        const there = fs.lstatSync(osPath(`${root}/${at}`), { throwIfNoEntry: false });
        if (there !== undefined && there.ctimeMs > until) continue;
        if (there !== undefined) {
          const aside = freeName(root, at);
          files.rename(`${root}/${at}`, `${root}/${aside}`);
          asides.push(aside);
        }
        for (const [one, entry] of known) {
          if (isWithin(one, at) && statIfThere(`${root}/${one}`) === undefined)
            await putBack(store, `${root}/${one}`, entry, true);
        }
      }
      return asides;
    },
  };
}

function freeName(root: string, at: string): string {
  for (let number = 1; ; number++) {
    const name = `${at}.taken-back${number === 1 ? '' : `-${number}`}`;
    if (statIfThere(`${root}/${name}`) === undefined) return name;
  }
}

async function putBack(store: ContentStore, full: string, entry: PictureEntry, owned: boolean): Promise<void> {
  fs.mkdirSync(osPath(path.dirname(full)), { recursive: true });
  if (entry.target !== undefined) {
    fs.symlinkSync(osPath(nameFromJson(entry.target)), osPath(full));
    return;
  }
  const content = entry.digest === undefined ? undefined : await store.get(entry.digest);
  if (content?.ok !== true) throw new Error(content?.error.message ?? `nothing is known of ${full}`);
  const staged = `${full}.new-${process.pid}`;
  fs.writeFileSync(osPath(staged), content.value, { mode: 0o600 });
  if (owned && process.geteuid?.() === 0) fs.chownSync(osPath(staged), entry.uid, entry.gid);
  fs.chmodSync(osPath(staged), entry.mode);
  fs.renameSync(osPath(staged), osPath(full));
}

async function picturesOf({ root, store }: GuardPorts, paths: readonly string[]): Promise<readonly PictureEntry[]> {
  const entries: PictureEntry[] = [];
  for (const at of paths) {
    const stat = statIfThere(`${root}/${at}`);
    if (stat === undefined || stat.isDirectory()) continue;
    const own = {
      path: nameToJson(at),
      mode: Number(stat.mode) & 0o7777,
      uid: Number(stat.uid),
      gid: Number(stat.gid),
    };
    if (stat.isSymbolicLink()) entries.push({ ...own, target: nameToJson(fs.readlinkSync(osPath(`${root}/${at}`))) });
    else if (stat.isFile() && stat.size <= LARGEST)
      entries.push({ ...own, digest: await store.put(fs.readFileSync(osPath(`${root}/${at}`))) });
  }
  return entries;
}

/** Larger files are not configuration, and can be no hook that anybody reads. */
const LARGEST = 16n << 20n;

/** Every path below a root that says what git runs. */
function gitPaths(root: string, tree: DirectoryNode, watched: WatchedPlaces): readonly string[] {
  const found: string[] = [];
  const repository = (directory: string) => {
    const inside = (name: string) => (directory === '' ? name : `${directory}/${name}`);
    for (const name of FILES) found.push(inside(name));
    const hooks = (at: string) => {
      found.push(at);
      if (statIfThere(`${root}/${at}`)?.isDirectory() !== true) return;
      for (const name of namesIfReadable(`${root}/${at}`).slice(0, MOST))
        if (!name.endsWith('.sample')) hooks(`${at}/${name}`);
    };
    hooks(inside('hooks'));
    for (const name of ['modules', 'worktrees']) {
      found.push(inside(name));
      for (const one of repositoriesIn(root, inside(name))) repository(one);
    }
  };
  const walk = (directory: DirectoryNode, at: string) => {
    if (directory.entries.has('HEAD') && (directory.entries.has('refs') || directory.entries.has('commondir')))
      repository(at);
    for (const [name, node] of directory.entries) {
      const one = joined(at, name);
      if (isDotGit(one)) {
        found.push(one);
        if (isRepository(root, one, node)) repository(one);
      } else if (node.kind === 'directory') walk(node, one);
      if (watched.runs(one) !== undefined || watched.configs.has(one)) found.push(one);
    }
  };
  walk(tree, '');
  return found;
}

function isRepository(root: string, at: string, node: TreeNode): boolean {
  return (node.kind === 'opaque' || node.kind === 'directory') && statIfThere(`${root}/${at}`)?.isDirectory() === true;
}

const MOST = 2000;
const DEEPEST = 8;

/** Directories of submodules and worktrees, whose names may have several parts. */
function repositoriesIn(root: string, at: string, depth = 0): readonly string[] {
  if (depth > DEEPEST || statIfThere(`${root}/${at}`)?.isDirectory() !== true) return [];
  const names = namesIfReadable(`${root}/${at}`).slice(0, MOST);
  return names.flatMap(name => {
    const one = `${at}/${name}`;
    const stat = statIfThere(`${root}/${one}`);
    if (stat?.isDirectory() !== true) return stat?.isSymbolicLink() === true ? [one] : [];
    const isOne = ['HEAD', 'config', 'hooks', 'commondir'].some(
      own => statIfThere(`${root}/${one}/${own}`) !== undefined,
    );
    return isOne ? [one] : repositoriesIn(root, one, depth + 1);
  });
}

const FILES = [
  ...['config', 'config.worktree', 'commondir', 'rebase-merge/git-rebase-todo', 'rebase-merge/strategy'],
  ...['sequencer/todo', 'sequencer/opts'],
];
