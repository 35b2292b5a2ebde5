import * as fs from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createTestRunner,
  createTestState,
  must,
  openTestFilesystem,
  temporaryDirectory,
} from '../../test/builders.ts';
import { createRunCommand, grepFiles, listFiles, readFile, type ToolOutcome, writeFile } from '../index.ts';
import { createMemoryContentStore } from './content-store.ts';
import { forbiddenPlaces } from './forbidden-places.ts';
import { hostPath } from './host-path.ts';

let directory: ReturnType<typeof temporaryDirectory>;
let root: string;
beforeEach(() => {
  directory = temporaryDirectory();
  root = fs.realpathSync(directory.path);
  fs.mkdirSync(`${root}/data/locks`, { recursive: true });
  fs.writeFileSync(`${root}/data/token`, 'secret');
});
afterEach(() => directory.remove());

const refused = { ok: false, error: { code: 'state/path-refused' } };

describe('the root of the disk', () => {
  it('[S173] is the root of no tool', () => {
    for (const path of ['/', '//', '/usr/..']) expect(() => openTestFilesystem(path)).toThrow('the whole disk');
  });

  it('[S173] [S174] hides the data directory where a plan reads it, and names paths right', () => {
    const limits = { root: '/', forbidden: forbiddenPlaces([`${root}/data`]), opaque: new Set<string>() };
    const how = { followLast: true, change: false };
    for (const path of [`${root}/data/token`, `${root}/data`, `${root}//data/./token`]) {
      expect(hostPath(limits, path.slice(1), how)).toMatchObject(refused);
    }
    const parts = root.slice(1).split('/');
    expect(hostPath(limits, root.slice(1), how)).toEqual({ ok: true, value: { path: root, parts } });
  });
});

describe('the data directory', () => {
  it('[S174] is left out under every name: written otherwise, behind a link, moved while it is in use', async () => {
    fs.symlinkSync(`${root}/data`, `${directory.path}/shortcut`);
    const files = openTestFilesystem(root, { dataDirectory: `${root}/shortcut/../data` });
    for (const path of ['data/token', './data//token', 'shortcut/token', 'data/locks/../token']) {
      expect(await files.read(path)).toMatchObject(refused);
    }
    fs.renameSync(`${root}/data`, `${root}/moved`);
    for (const path of ['moved/token', 'moved']) expect(await files.read(path)).toMatchObject(refused);
    expect(must(await files.snapshot()).tree.entries.get('moved')).toMatchObject({ kind: 'opaque' });
    expect(() => openTestFilesystem(`${root}/moved/locks`, { dataDirectory: `${root}/moved` })).toThrow('off limits');
  });

  it('[S174] cannot be removed or moved away with what is around it', async () => {
    fs.mkdirSync(`${root}/around`);
    fs.renameSync(`${root}/data`, `${root}/around/data`);
    const files = openTestFilesystem(root, { dataDirectory: `${root}/around/data` });
    expect(await files.remove('around')).toMatchObject(refused);
    expect(await files.rename('around', 'elsewhere')).toMatchObject(refused);
    expect(fs.readFileSync(`${root}/around/data/token`, 'utf8')).toBe('secret');
  });

  it.skipIf(process.platform !== 'linux')(
    '[S174] keeps its locks, whatever tools read, search and capture, also where a lock file has a second name',
    async () => {
      const database = new DatabaseSync(`${root}/data/db.sqlite`);
      database.exec('create table a (b); begin immediate');
      fs.linkSync(`${root}/data/db.sqlite`, `${root}/second`);
      const { ino } = fs.statSync(`${root}/second`);
      const locks = () => {
        const held = fs.readFileSync('/proc/locks', 'utf8').split('\n');
        // While others take and release locks, a line may be listed twice, or not at all.
        return new Set(held.filter(line => line.includes(`:${ino} `)).map(line => line.slice(line.indexOf(' '))));
      };
      const before = locks();
      expect(before).not.toEqual(new Set());
      const files = openTestFilesystem(root, { dataDirectory: `${root}/data` });
      expect(must(await files.snapshot()).tree.entries.get('second')).toMatchObject({ kind: 'special' });
      expect(await files.read('second')).toMatchObject(refused);
      const tools = [readFile, writeFile, listFiles, grepFiles, createRunCommand({ unconfined: true })];
      const runner = createTestRunner(createTestState({ files }).state, { tools });
      const call = async (name: string, input: object): Promise<ToolOutcome> =>
        must(await runner.execute({ id: name, name, input }));
      expect(await call('list_files', { path: '.' })).toMatchObject({ status: 'succeeded' });
      expect(await call('grep', { text: 'SQLite' })).toMatchObject({ status: 'succeeded', value: { matches: [] } });
      expect(await call('write_file', { path: 'second', content: 'x' })).toMatchObject({ status: 'failed' });
      expect(await call('run_command', { command: ['false'] })).toMatchObject({ status: 'failed' });
      await expect.poll(locks).toEqual(before);
      database.close();
    },
  );
});

describe('a capture', () => {
  it('[S175] ends with its call, and nothing is run', async () => {
    for (let n = 0; n < 2000; n++) fs.writeFileSync(`${root}/${n}`, String(n));
    const control = new AbortController();
    const memory = createMemoryContentStore();
    let kept = 0;
    const store = {
      ...memory,
      put(content: Uint8Array) {
        if (++kept === 10) control.abort();
        return memory.put(content);
      },
    };
    for (const [tool, input] of [
      [createRunCommand({ unconfined: true }), { command: ['touch', 'made'] }],
      [writeFile, { path: 'made', content: 'x' }],
    ] as const) {
      const files = openTestFilesystem(root, { store });
      const runner = createTestRunner(createTestState({ files }).state, { tools: [tool] });
      const outcome = must(await runner.execute({ id: tool.name, name: tool.name, input }, { signal: control.signal }));
      expect(outcome).toMatchObject({ status: 'failed', error: { code: 'tool/canceled' } });
    }
    expect(kept).toBe(10);
    expect(fs.existsSync(`${root}/made`)).toBe(false);
  });
});
