import { Bug, type Digest, digest, type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import * as z from 'zod';
import type { ContentError, ContentStore } from './content-store.ts';
import { nameFromJson, nameToJson } from './path-name.ts';
import type { DirectoryNode, TreeNode } from './tree.ts';

/** The stored form of one directory. Files and directories below it are named by digest, so equal ones are stored once. */
const attributes = { mode: z.int().nonnegative(), uid: z.int().nonnegative(), gid: z.int().nonnegative() };
const entryV1 = z.discriminatedUnion('kind', [
  z.strictObject({ name: z.string(), kind: z.literal('file'), ...attributes, size: z.int().nonnegative(), digest }),
  /** Known without its content: it can be undone only if it is still as it was left. */
  z.strictObject({
    ...{ name: z.string(), kind: z.literal('unread'), ...attributes, size: z.int().nonnegative() },
    ...{ ino: z.int().nonnegative(), mtimeMs: z.number() },
  }),
  z.strictObject({ name: z.string(), kind: z.literal('link'), target: z.string() }),
  z.strictObject({ name: z.string(), kind: z.literal('directory'), digest }),
  z.strictObject({
    name: z.string(),
    kind: z.literal('opaque'),
    identity: z.string(),
    attributes: z.strictObject(attributes).optional(),
  }),
  z.strictObject({
    name: z.string(),
    kind: z.literal('special'),
    attributes: z.strictObject(attributes).optional(),
  }),
]);
const directoryV1 = z.strictObject({
  version: z.literal(1),
  ...attributes,
  partial: z.literal(true).optional(),
  entries: z.array(entryV1),
});

export type TreeError = ContentError | ErrorEnvelope<'state/snapshot-failed'>;

/**
 * Stores a tree and returns the digest of its root. Durable only after `store.sync()`. A directory object that was stored
 * before is not visited again.
 */
export async function keepTree(
  store: ContentStore,
  kept: WeakMap<DirectoryNode, Digest>,
  root: DirectoryNode,
): Promise<Digest> {
  const known = kept.get(root);
  if (known !== undefined) return known;
  const entries: z.infer<typeof entryV1>[] = [];
  for (const [raw, node] of root.entries) {
    const name = nameToJson(raw);
    switch (node.kind) {
      case 'file': {
        const { mode, uid, gid, size, stamp } = node;
        if (node.digest !== null) entries.push({ name, kind: 'file', mode, uid, gid, size, digest: node.digest });
        else if (stamp === undefined) throw new Bug(`the content of ${name} was never read`);
        else entries.push({ name, kind: 'unread', mode, uid, gid, size, ino: stamp.ino, mtimeMs: stamp.mtimeMs });
        break;
      }
      case 'link':
        entries.push({ name, kind: 'link', target: nameToJson(node.target) });
        break;
      case 'directory':
        entries.push({ name, kind: 'directory', digest: await keepTree(store, kept, node) });
        break;
      case 'opaque':
        entries.push({ name, kind: 'opaque', identity: node.identity, attributes: node.attributes });
        break;
      case 'special':
        entries.push({ name, kind: 'special', attributes: node.attributes });
        break;
    }
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const { mode, uid, gid, partial } = root;
  const own = await store.put(Buffer.from(JSON.stringify({ version: 1, mode, uid, gid, partial, entries })));
  kept.set(root, own);
  return own;
}

export async function loadTree(
  store: Pick<ContentStore, 'get'>,
  at: Digest,
): Promise<Result<DirectoryNode, TreeError>> {
  const bytes = await store.get(at);
  if (!bytes.ok) return bytes;
  const parsed = directoryV1.safeParse(jsonOf(bytes.value));
  if (!parsed.success) return err(notATree(at));
  const { mode, uid, gid, partial } = parsed.data;
  const entries = new Map<string, TreeNode>();
  for (const { name: written, ...entry } of parsed.data.entries) {
    const name = nameFromJson(written);
    if (!isName(name)) return err(notATree(at));
    if (entry.kind === 'directory') {
      const child = await loadTree(store, entry.digest);
      if (!child.ok) return child;
      entries.set(name, child.value);
    } else if (entry.kind === 'link') {
      entries.set(name, { kind: 'link', target: nameFromJson(entry.target) });
    } else if (entry.kind === 'unread') {
      const { ino, mtimeMs, ...known } = entry;
      entries.set(name, { ...known, kind: 'file', digest: null, stamp: { ino, mtimeMs, ctimeMs: 0, fresh: false } });
    } else entries.set(name, entry);
  }
  return ok({ kind: 'directory', mode, uid, gid, entries, ...(partial && { partial }) });
}

/** A stored tree may be untrusted: a name must not lead out of its directory. */
function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !name.includes('/') && !name.includes('\0');
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}

function notATree(at: Digest): TreeError {
  return failure('state/snapshot-failed', {
    message: `${at} is not the snapshot of a directory`,
    suggestion: 'Restore from another checkpoint.',
  });
}
