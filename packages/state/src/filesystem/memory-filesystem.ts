import { type Digest, digest, err, ok, type Result } from '@signalbox/model';
import * as z from 'zod';
import { type StateError, snapshotMalformed } from '../snapshots/snapshot-error.ts';
import { type ContentStore, createMemoryContentStore } from './content-store.ts';
import { type FileEntry, type FileError, type FileResult, type Filesystem, fileFailed } from './filesystem.ts';
import { pathParts } from './path-name.ts';
import { type DirectoryNode, EMPTY_DIRECTORY, nodeAt, sameNode, type TreeNode, withNode } from './tree.ts';
import { keepTree, loadTree } from './tree-codec.ts';

let made = 0;
const MAX_LINKS = 40;
const snapshotData = z.strictObject({ root: digest });

/**
 * A filesystem as a value: every change creates a new tree that shares the rest with the old one, so a snapshot is a
 * reference and a restore is an assignment.
 */
export function createMemoryFilesystem(store: ContentStore = createMemoryContentStore()): Filesystem {
  let tree: DirectoryNode = EMPTY_DIRECTORY;
  const kept = new WeakMap<DirectoryNode, Digest>();

  /** Resolves links in a path; the last part is followed only on request. */
  const resolve = (path: string, followLast: boolean): Result<readonly string[], FileError> => {
    const wanted = pathParts(path);
    if (!wanted.ok) return wanted;
    let rest: readonly string[] = wanted.value;
    let done: readonly string[] = [];
    for (let links = 0; ; ) {
      const [name, ...after] = rest;
      if (name === undefined) return ok(done);
      const node = nodeAt(tree, [...done, name]);
      if (node?.kind === 'link' && (after.length > 0 || followLast)) {
        if (++links > MAX_LINKS) return err(fileFailed(path, 'too many links'));
        const led = pathParts([...(node.target.startsWith('/') ? ['/'] : done), node.target, ...after].join('/'));
        if (!led.ok) return led;
        rest = led.value;
        done = [];
      } else {
        done = [...done, name];
        rest = after;
      }
    }
  };

  const parentOf = (path: string, parts: readonly string[]): Result<void, FileError> => {
    if (parts.length === 0) return err(fileFailed(path, 'it is the root'));
    const parent = nodeAt(tree, parts.slice(0, -1));
    return parent?.kind === 'directory' ? ok(undefined) : err(fileFailed(path, 'its directory does not exist'));
  };

  const makeParents = (path: string, parts: readonly string[]): Result<void, FileError> => {
    for (let depth = 1; depth < parts.length; depth++) {
      const at = parts.slice(0, depth);
      const node = nodeAt(tree, at);
      if (node === undefined) tree = withNode(tree, at, { ...EMPTY_DIRECTORY });
      else if (node.kind !== 'directory') return err(fileFailed(path, 'a part of it is not a directory'));
    }
    return ok(undefined);
  };

  const found = (
    path: string,
    followLast: boolean,
  ): Result<{ parts: readonly string[]; node: TreeNode }, FileError> => {
    const parts = resolve(path, followLast);
    if (!parts.ok) return parts;
    const node = nodeAt(tree, parts.value);
    return node === undefined ? err(fileFailed(path, 'it does not exist')) : ok({ parts: parts.value, node });
  };

  const set = async (path: string, followLast: boolean, node: TreeNode): FileResult<void> => {
    const parts = resolve(path, followLast);
    if (!parts.ok) return parts;
    const parent = parentOf(path, parts.value);
    if (!parent.ok) return parent;
    if (nodeAt(tree, parts.value) !== undefined) return err(fileFailed(path, 'it already exists'));
    tree = withNode(tree, parts.value, node);
    return ok(undefined);
  };

  return {
    lockPath: `/memory:${++made}`,
    root: null,
    refused: [],
    async read(path) {
      const at = found(path, true);
      if (!at.ok) return at;
      if (at.value.node.kind !== 'file' || at.value.node.digest === null)
        return err(fileFailed(path, 'it is not a file'));
      const content = await store.get(at.value.node.digest);
      return content.ok ? content : err(fileFailed(path, content.error.message));
    },
    async write(path, content) {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      const parts = resolve(path, true);
      if (!parts.ok) return parts;
      if (parts.value.length === 0) return err(fileFailed(path, 'it is the root'));
      const own = await store.put(bytes);
      const parents = makeParents(path, parts.value);
      if (!parents.ok) return parents;
      const old = nodeAt(tree, parts.value);
      if (old !== undefined && old.kind !== 'file') return err(fileFailed(path, 'it is not a file'));
      const mode = old?.mode ?? 0o644;
      tree = withNode(tree, parts.value, { kind: 'file', mode, uid: 0, gid: 0, size: bytes.length, digest: own });
      return ok(undefined);
    },
    async remove(path) {
      const at = found(path, false);
      if (!at.ok) return at;
      if (at.value.parts.length === 0) return err(fileFailed(path, 'it is the root'));
      tree = withNode(tree, at.value.parts, undefined);
      return ok(undefined);
    },
    async rename(from, to) {
      const source = found(from, false);
      if (!source.ok) return source;
      const target = resolve(to, false);
      if (!target.ok) return target;
      const parent = parentOf(to, target.value);
      if (!parent.ok) return parent;
      const inside = source.value.parts.every((part, index) => target.value[index] === part);
      if (source.value.parts.length === 0 || inside) return err(fileFailed(to, 'it is inside the moved directory'));
      if (nodeAt(tree, target.value) !== undefined) return err(fileFailed(to, 'it already exists'));
      tree = withNode(withNode(tree, source.value.parts, undefined), target.value, source.value.node);
      return ok(undefined);
    },
    mkdir: path => set(path, false, { ...EMPTY_DIRECTORY }),
    symlink: (target, path) => set(path, false, { kind: 'link', target }),
    async chmod(path, mode) {
      const at = found(path, true);
      if (!at.ok) return at;
      const { node, parts } = at.value;
      if (node.kind !== 'file' && node.kind !== 'directory') return err(fileFailed(path, 'it has no mode'));
      const next = { ...node, mode };
      tree = next.kind === 'directory' && parts.length === 0 ? next : withNode(tree, parts, next);
      return ok(undefined);
    },
    async list(path) {
      const at = found(path, true);
      if (!at.ok) return at;
      if (at.value.node.kind !== 'directory') return err(fileFailed(path, 'it is not a directory'));
      const entries = [...at.value.node.entries].map(([name, node]) => entryOf(name, node));
      return ok(entries.sort((a, b) => (a.name < b.name ? -1 : 1)));
    },
    async stat(path) {
      const at = found(path, false);
      return at.ok ? ok(entryOf(at.value.parts.at(-1) ?? '.', at.value.node)) : at;
    },

    snapshot: async () => ok({ tree }),
    async stage(snapshot) {
      const before = tree;
      return ok({
        lost: [],
        async apply() {
          tree = snapshot.tree;
          return ok(undefined);
        },
        async undo() {
          tree = before;
          return ok(undefined);
        },
        async finish() {},
        async discard() {},
      });
    },
    async encode(snapshot) {
      const root = await keepTree(store, kept, snapshot.tree);
      await store.sync();
      return { root };
    },
    async decode(data) {
      const parsed = snapshotData.safeParse(data);
      if (!parsed.success)
        return err(snapshotMalformed('a filesystem snapshot must name its root') satisfies StateError);
      const loaded = await loadTree(store, parsed.data.root);
      return loaded.ok ? ok({ tree: loaded.value }) : loaded;
    },
    equivalent: (a, b) => sameNode(a.tree, b.tree),
    locate(path) {
      const parts = resolve(path, true);
      return parts.ok ? ok(parts.value.join('/')) : parts;
    },
    linkedPaths: async () => [],
    begin: async () => ok({ startedAt: 0 }),
    async alive() {},
    mark: async () => 0,
    async end() {},
    changedOpaque: async () => [],
  };
}

function entryOf(name: string, node: TreeNode): FileEntry {
  switch (node.kind) {
    case 'file':
      return { name, kind: 'file', size: node.size, mode: node.mode };
    case 'link':
      return { name, kind: 'link', size: node.target.length, mode: 0o777 };
    case 'directory':
      return { name, kind: 'directory', size: 0, mode: node.mode };
    default:
      return { name, kind: 'other', size: 0, mode: 0 };
  }
}
