import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { type ErrorEnvelope, err, ok, type Result } from '@signalbox/model';
import { checkDepth } from './deep-paths.ts';
import { type FileEntry, type FileError, type Files, fileFailed } from './filesystem.ts';
import { type Confinement, type HostPath, hostPath } from './host-path.ts';
import { below, nameFromBytes, osPath, pathRefused } from './path-name.ts';
import { checkNotInUse, openToRead, replaceFile } from './regular-file.ts';
import { namesIn } from './remove-tree.ts';
import { reasonOf } from './system-reason.ts';

const readAll = promisify(fs.readFile) as (fd: number) => Promise<Buffer>;

/** Reads and changes files under a root. `changed` is called for every path that a call may have changed. */
export function createHostFileAccess(
  limits: Confinement,
  changed: (parts: readonly string[]) => Promise<void>,
  checkRoot: () => ErrorEnvelope | undefined,
): Files {
  const attempt = async <T>(path: string, work: () => T | Promise<T>): Promise<Result<T, FileError>> => {
    try {
      return ok(await work());
    } catch (cause) {
      return err(fileFailed(path, fileReason(cause)));
    }
  };
  /** Resolves a path, as long as the root is still the directory that was opened. */
  const find = (path: string, how: { readonly followLast: boolean; readonly change: boolean }) => {
    const replaced = checkRoot();
    return replaced === undefined ? hostPath(limits, path, how) : err(fileFailed(path, replaced.message));
  };
  const look = (path: string, followLast: boolean) => find(path, { followLast, change: false });
  const change = async (
    path: string,
    followLast: boolean,
    work: (at: HostPath) => void | Promise<void>,
  ): Promise<Result<void, FileError>> => {
    const at = find(path, { followLast, change: true });
    if (!at.ok) return at;
    const done = await attempt(path, () => {
      checkDepth(dirname(at.value.path));
      return work(at.value);
    });
    await changed(at.value.parts);
    return done;
  };
  const notRoot = (at: HostPath) => {
    if (at.parts.length === 0) throw new Error('it is the root');
  };
  /** A directory that contains a forbidden one may not be moved or removed. */
  const holdsForbidden = (path: string) => {
    const at = find(path, { followLast: false, change: true });
    return at.ok && limits.forbidden.touches(at.value.path)
      ? err(pathRefused(path, 'it contains a directory that tools may not enter'))
      : undefined;
  };
  const notThere = (at: HostPath) => {
    if (fs.lstatSync(osPath(at.path), { throwIfNoEntry: false })) throw new Error('it already exists');
  };

  return {
    async read(path) {
      const at = look(path, true);
      if (!at.ok) return at;
      return attempt(path, async () => {
        const fd = openToRead(at.value.path);
        try {
          return await readAll(fd);
        } finally {
          fs.closeSync(fd);
        }
      });
    },
    write: (path, content) =>
      change(path, true, at => {
        notRoot(at);
        makeParents(limits.root, at.parts);
        replaceFile(at.path, content);
      }),
    remove: async path =>
      holdsForbidden(path) ??
      change(path, false, at => {
        notRoot(at);
        checkTree(at.path);
        checkNotInUse(at.path);
        fs.rmSync(osPath(at.path), { recursive: true });
      }),
    async rename(from, to) {
      const refused = holdsForbidden(from);
      if (refused !== undefined) return refused;
      const source = find(from, { followLast: false, change: true });
      if (!source.ok) return source;
      const moved = await change(to, false, at => {
        notRoot(source.value);
        notThere(at);
        fs.renameSync(osPath(source.value.path), osPath(at.path));
      });
      await changed(source.value.parts);
      return moved;
    },
    mkdir: path =>
      change(path, false, at => {
        notThere(at);
        fs.mkdirSync(osPath(at.path));
      }),
    symlink: (target, path) => change(path, false, at => fs.symlinkSync(osPath(target), osPath(at.path))),
    chmod: (path, mode) => change(path, true, at => fs.chmodSync(osPath(at.path), mode)),
    async list(path) {
      const at = look(path, true);
      if (!at.ok) return at;
      return attempt(path, () => {
        const names = fs.readdirSync(osPath(at.value.path), { encoding: 'buffer' }).map(nameFromBytes);
        const entries = names.flatMap(name => {
          const stat = fs.lstatSync(osPath(below(at.value.path, name)), { throwIfNoEntry: false });
          return stat === undefined ? [] : [entryOf(name, stat)];
        });
        return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      });
    },
    async stat(path) {
      const at = look(path, false);
      if (!at.ok) return at;
      return attempt(path, () => entryOf(at.value.parts.at(-1) ?? '.', fs.lstatSync(osPath(at.value.path))));
    },
  };
}

/** What is nested too deeply could not be brought back, and would be removed in part. */
function checkTree(path: string): void {
  if (!fs.lstatSync(osPath(path)).isDirectory()) return;
  checkDepth(path);
  for (const name of namesIn(path)) checkTree(`${path}/${name}`);
}

function makeParents(root: string, parts: readonly string[]): void {
  for (let depth = 1; depth < parts.length; depth++) {
    const path = below(root, parts.slice(0, depth).join('/'));
    if (fs.lstatSync(osPath(path), { throwIfNoEntry: false }) === undefined) fs.mkdirSync(osPath(path));
  }
}

function entryOf(name: string, stat: fs.Stats): FileEntry {
  const kind = stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'link' : 'other';
  return { name, kind, size: kind === 'directory' ? 0 : stat.size, mode: stat.mode & 0o7777 };
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'it does not exist'],
  ['EISDIR', 'it is not a file'],
  ['ENXIO', 'it is not a file'],
  ['ENOTDIR', 'it is not a directory'],
  ['EEXIST', 'it already exists'],
  ['EINVAL', 'it is inside the moved directory'],
  ['ELOOP', 'it is a link'],
  ['EACCES', 'permission is denied'],
  ['ENAMETOOLONG', 'its path is too long'],
]);

/** The reason, without the path, which the message already has. */
function fileReason(cause: unknown): string {
  const { code } = cause as NodeJS.ErrnoException;
  return REASONS.get(String(code)) ?? reasonOf(cause);
}
