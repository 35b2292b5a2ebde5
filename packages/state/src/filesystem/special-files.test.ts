import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as net from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createTestRunner,
  createTestState,
  must,
  openTestFilesystem,
  temporaryDirectory,
} from '../../test/builders.ts';
import { editFile, readFile, writeFile } from '../tools/at-hand/file-tools.ts';
import { globFiles, grepFiles } from '../tools/at-hand/search-tools.ts';
import { openToRead, replaceFile } from './regular-file.ts';

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory.remove());

const SEVERAL = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6'];

async function listening(path: string): Promise<net.Server> {
  const server = net.createServer();
  await new Promise<void>(resolve => server.listen(path, resolve));
  return server;
}

describe('a pipe, a socket or a device', () => {
  it('[S100] is refused at once by every file tool, and more pipes than there are threads stop no other call', async () => {
    const root = directory.path;
    for (const name of SEVERAL) execFileSync('mkfifo', [`${root}/${name}`]);
    fs.symlinkSync('p1', `${root}/link`);
    fs.writeFileSync(`${root}/file`, 'needle');
    const server = await listening(`${root}/socket`);
    try {
      const tools = [readFile, writeFile, editFile, grepFiles, globFiles];
      const runner = createTestRunner(createTestState({ files: openTestFilesystem(root) }).state, { tools });
      let id = 0;
      const run = async (name: string, input: unknown) => must(await runner.execute({ id: String(++id), name, input }));
      const refused = await Promise.all(
        [...SEVERAL, 'link', 'socket'].flatMap(path => [
          run('read_file', { path }),
          run('write_file', { path, content: 'x' }),
          run('edit_file', { path, find: 'a', replaceWith: 'b' }),
        ]),
      );
      expect(new Set(refused.map(one => one.status))).toEqual(new Set(['failed']));
      expect(refused.every(one => one.status === 'failed' && /it is not a file/.test(one.error.message))).toBe(true);
      expect(await run('grep', { text: 'needle' })).toMatchObject({ value: { matches: [{ path: 'file' }] } });
      expect(await run('glob', { pattern: 'p*' })).toMatchObject({ value: { paths: SEVERAL } });
      expect(await run('write_file', { path: 'file', content: 'written' })).toMatchObject({ status: 'succeeded' });
      expect(await run('read_file', { path: 'file' })).toMatchObject({ value: { text: 'written' } });
    } finally {
      server.close();
    }
  });

  it('[S100] is refused where the pipe has a reader too, and a device is not opened', () => {
    execFileSync('mkfifo', [`${directory.path}/pipe`]);
    const reader = fs.openSync(`${directory.path}/pipe`, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    try {
      expect(() => replaceFile(`${directory.path}/pipe`, 'x')).toThrow('it is not a file');
      expect(() => openToRead(`${directory.path}/pipe`)).toThrow('it is not a file');
      expect(() => openToRead('/dev/null')).toThrow('it is not a file');
    } finally {
      fs.closeSync(reader);
    }
  });
});
