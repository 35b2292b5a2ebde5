import * as fs from 'node:fs';
import { type Digest, digestHex } from '@signalbox/model';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { must, openTestFilesystem, temporaryDirectory } from '../../test/builders.ts';
import { openHostContentStore } from './host-content-store.ts';
import { nodeHostFiles } from './host-files.ts';

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory.remove());

const stored = (root: string) =>
  fs
    .readdirSync(root, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name));

async function* chunksOf(...chunks: string[]) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

async function drained(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}

describe('content store on disk', () => {
  it('[S175] a sync ends with its signal, and what waits is synced by the next one', async () => {
    const control = new AbortController();
    let synced = 0;
    const files = {
      ...nodeHostFiles,
      async sync(path: string) {
        if (++synced === 20) control.abort();
        await nodeHostFiles.sync(path);
      },
    };
    const store = openHostContentStore(`${directory.path}/blobs`, files);
    const digests = await Promise.all(Array.from({ length: 200 }, (_, n) => store.put(Buffer.from(String(n)))));
    await expect(store.sync(control.signal)).rejects.toThrow('aborted');
    expect(synced).toBeLessThan(50);
    await store.sync();
    for (const digest of digests) expect(await store.get(digest)).toMatchObject({ ok: true });
  });

  it('[S26] a content is kept once, under its digest, however it comes in', async () => {
    const store = openHostContentStore(directory.path);
    const digests = [await store.put(Buffer.from('hello')), await store.putStream(chunksOf('hel', 'lo'))];
    await store.sync();
    expect(digests[0]).toBe(digests[1]);
    const hex = digestHex(digests[0] as Digest);
    expect(fs.readFileSync(`${directory.path}/${hex.slice(0, 2)}/${hex}`, 'utf8')).toBe('hello');
    expect(stored(directory.path)).toHaveLength(1);
  });

  it('[S26] a name appears only after its content is synced', async () => {
    const log: string[] = [];
    const store = openHostContentStore(directory.path, {
      ...nodeHostFiles,
      sync: async path => void log.push(`sync ${path.includes('incoming') ? 'content' : 'directory'}`),
      rename: (from, to) => {
        log.push('rename');
        nodeHostFiles.rename(from, to);
      },
    });
    await store.put(Buffer.from('a'));
    await store.sync();
    expect(log).toEqual(['sync content', 'rename', 'sync directory', 'sync directory']);
  });

  it('[S26] what is not synced can be read by its writer, and is not there for the next one', async () => {
    const store = openHostContentStore(directory.path);
    const digest = await store.put(Buffer.from('a'));
    expect(must(await store.get(digest))).toEqual(Buffer.from('a'));
    expect(await openHostContentStore(directory.path).get(digest)).toMatchObject({
      ok: false,
      error: { code: 'state/content-missing' },
    });
  });

  it('[S26] a content that was changed on disk is not handed out', async () => {
    const store = openHostContentStore(directory.path);
    const digest = await store.put(Buffer.from('hello'));
    await store.sync();
    const hex = digestHex(digest);
    fs.writeFileSync(`${directory.path}/${hex.slice(0, 2)}/${hex}`, 'hullo');
    expect(await store.get(digest)).toMatchObject({ ok: false, error: { code: 'state/content-corrupt' } });
    await expect(drained(store.read(digest))).rejects.toMatchObject({
      error: { code: 'state/content-corrupt' },
    });
  });

  it('[S26] a snapshot whose content is corrupt is not restored, and the tree stays as it is', async () => {
    const root = `${directory.path}/root`;
    fs.mkdirSync(root);
    const store = openHostContentStore(`${directory.path}/blobs`);
    const files = openTestFilesystem(root, { store });
    must(await files.write('a', 'before'));
    const snapshot = must(await files.snapshot());
    must(await files.write('a', 'after'));
    await files.encode(snapshot);
    for (const entry of stored(`${directory.path}/blobs`))
      fs.writeFileSync(`${entry.parentPath}/${entry.name}`, 'rotten');
    expect(await files.stage(snapshot, { id: 'x', left: 'present' })).toMatchObject({
      ok: false,
      error: { code: 'state/content-corrupt' },
    });
    expect(fs.readdirSync(root)).toEqual(['a']);
    expect(fs.readFileSync(`${root}/a`, 'utf8')).toBe('after');
  });

  it('[S27] a snapshot is kept as one digest, and a second one keeps only what changed', async () => {
    const root = `${directory.path}/root`;
    fs.mkdirSync(root);
    const blobs = `${directory.path}/blobs`;
    const store = openHostContentStore(blobs);
    const files = openTestFilesystem(root, { store });
    for (let index = 0; index < 30; index++) must(await files.write(`dir${index % 3}/${index}`, `content ${index}`));
    const first = await files.encode(must(await files.snapshot()));
    const before = stored(blobs).length;
    expect(before).toBe(30 + 3 + 1);
    must(await files.write('dir0/0', 'changed'));
    const second = await files.encode(must(await files.snapshot()));
    expect(stored(blobs).length - before).toBe(3);
    expect(second).not.toEqual(first);
    must(await files.write('dir0/0', 'content 0'));
    expect(await files.encode(must(await files.snapshot()))).toEqual(first);
  });
});
