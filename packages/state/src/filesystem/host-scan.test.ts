import * as fs from 'node:fs';
import type { Digest } from '@signalbox/model';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/builders.ts';
import { type ContentStore, createMemoryContentStore, digestOfBytes } from './content-store.ts';
import { scanTree } from './host-scan.ts';
import type { DirectoryNode, FileNode } from './tree.ts';

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
  fs.writeFileSync(`${directory.path}/a`, 'now');
});
afterEach(() => directory.remove());

const MINUTE = 60_000;
const real = digestOfBytes(Buffer.from('now'));
const other = digestOfBytes(Buffer.from('old'));

function scan(now: number, store: ContentStore | null, before?: DirectoryNode): Promise<DirectoryNode> {
  return scanTree(
    { root: directory.path, opaque: () => false, forbidden: () => false, ignored: () => false, now, store },
    before,
  );
}

/** A picture that shows the file with its real times and another content, as after an edit within one clock tick. */
async function misleading(fresh: boolean): Promise<DirectoryNode> {
  const tree = await scan(Date.now() + MINUTE, createMemoryContentStore());
  const node = tree.entries.get('a') as FileNode & { stamp: NonNullable<FileNode['stamp']> };
  return { ...tree, entries: new Map([['a', { ...node, digest: other, stamp: { ...node.stamp, fresh } }]]) };
}

const digestOf = (tree: DirectoryNode): Digest | null => (tree.entries.get('a') as FileNode).digest;

describe('scan', () => {
  it('[S21] a file that changed right before it was seen is fresh, one that changed long before is not', async () => {
    const stampOf = (tree: DirectoryNode) => (tree.entries.get('a') as FileNode).stamp?.fresh;
    const { ctimeMs } = fs.statSync(`${directory.path}/a`);
    expect(stampOf(await scan(ctimeMs, createMemoryContentStore()))).toBe(true);
    expect(stampOf(await scan(ctimeMs + MINUTE, createMemoryContentStore()))).toBe(false);
  });

  it('[S21] a fresh file is read again although its times are the same', async () => {
    expect(digestOf(await scan(Date.now() + MINUTE, createMemoryContentStore(), await misleading(true)))).toBe(real);
    expect(digestOf(await scan(Date.now() + MINUTE, null, await misleading(true)))).toBe(real);
  });

  it('[S21] one that is not is taken by its times', async () => {
    const before = await misleading(false);
    expect(await scan(Date.now() + MINUTE, createMemoryContentStore(), before)).toBe(before);
    expect(await scan(Date.now() + MINUTE, null, before)).toBe(before);
  });
});
