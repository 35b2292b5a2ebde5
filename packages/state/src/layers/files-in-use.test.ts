import * as fs from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  createTestRunner,
  createTestState,
  must,
  openTestFilesystem,
  temporaryDirectory,
  treeOf,
} from '../../test/builders.ts';
import { startMapping, startWriting, type WritingProgram } from '../../test/writing-program.ts';
import { createCheckpointStore } from '../checkpoints/checkpoint-store.ts';
import { undoCall } from '../checkpoints/undo-call.ts';
import { createPathLocks } from '../filesystem/path-locks.ts';
import { defineTool, fail, succeed } from '../tools/tool.ts';
import { filesInUse } from './files-in-use.ts';

let directory: ReturnType<typeof temporaryDirectory>;
let root: string;
let server: DatabaseSync;
beforeEach(() => {
  directory = temporaryDirectory();
  root = `${fs.realpathSync(directory.path)}/root`;
  fs.mkdirSync(root);
  server = new DatabaseSync(`${root}/app.db`);
  server.exec('create table t(who text); insert into t values (1)');
});
afterEach(() => {
  if (server.isOpen) server.close();
  directory.remove();
});

/** A call that runs in place. It writes to the database as another program does, and to a file. */
async function inPlace(succeeds: boolean) {
  const checkpoints = createCheckpointStore();
  const files = openTestFilesystem(root, { dataDirectory: `${directory.path}/data` });
  const locks = createPathLocks();
  const command = defineTool({
    ...{ name: 'command', description: 'a test', input: z.null(), output: z.null(), risk: 'low' },
    effects: { kind: 'files' },
    handler() {
      const other = new DatabaseSync(`${root}/app.db`);
      other.exec('insert into t values (2)');
      other.close();
      fs.writeFileSync(`${root}/file`, 'by the command');
      return succeeds ? succeed(null) : fail('as told');
    },
  });
  const runner = createTestRunner(createTestState({ files, checkpoints }).state, { tools: [command], locks });
  const outcome = must(await runner.execute({ id: 'call', name: 'command', input: null }));
  const checkpoint = checkpoints.get('call');
  if (checkpoint === undefined) throw new Error('no checkpoint');
  return { outcome, undo: () => undoCall({ files, checkpoint, locks }) };
}

const rows = () => new DatabaseSync(`${root}/app.db`, { readOnly: true }).prepare('select who from t').all().length;

describe.skipIf(process.platform !== 'linux')('a database that a program has open', () => {
  it('[S87] is found by what it is, with and without a log, also below a directory; a file that is only read is not', () => {
    const file = fs.openSync(`${root}/open.txt`, 'w');
    const reading = fs.openSync(`${root}/open.txt`, 'r');
    const inUse = (...paths: readonly string[]) => filesInUse(root, paths).map(({ path, kind }) => [path, kind]);
    expect(inUse('app.db', 'open.txt', 'missing')).toEqual([
      ['app.db', 'database'],
      ['open.txt', 'file'],
    ]);
    expect(inUse('app.db-journal')).toEqual([['app.db', 'database']]);
    expect(inUse('')).toHaveLength(2);
    fs.closeSync(file);
    server.close();
    expect(inUse('')).toEqual([]);
    fs.closeSync(reading);
  });

  it('[S87] stays as it is when a command that ran in place is rolled back, and is named', async () => {
    const { outcome } = await inPlace(false);
    expect(outcome).toMatchObject({ rollback: { kind: 'restored', left: ['app.db'] } });
    server.exec('insert into t values (3)');
    expect([rows(), fs.existsSync(`${root}/file`)]).toEqual([3, false]);
  });

  it('[S87] is not undone under the program; it is once the program has closed it', async () => {
    const { outcome, undo } = await inPlace(true);
    expect(outcome).toMatchObject({ status: 'succeeded' });
    const before = treeOf(root);
    expect(await undo()).toMatchObject({
      ok: false,
      error: { code: 'state/restore-failed', message: expect.stringContaining(`(pid ${process.pid}) has app.db open`) },
    });
    expect(treeOf(root)).toEqual(before);
    server.close();
    expect(must(await undo()).paths.toSorted()).toEqual(['app.db', 'file']);
    expect(rows()).toBe(1);
  });
});

/** A call of a tool that runs in place and changes one file. */
async function changeInPlace(
  how: { readonly succeeds: boolean; readonly paths?: readonly string[] },
  change: () => void,
) {
  const checkpoints = createCheckpointStore();
  const files = openTestFilesystem(root, { dataDirectory: `${directory.path}/data` });
  const locks = createPathLocks();
  const { paths } = how;
  const tool = defineTool({
    ...{ name: 'change', description: 'a test', input: z.null(), output: z.null(), risk: 'low' },
    effects: { kind: 'files', ...(paths && { paths: () => paths }) },
    handler() {
      change();
      return how.succeeds ? succeed(null) : fail('as told');
    },
  });
  const runner = createTestRunner(createTestState({ files, checkpoints }).state, { tools: [tool], locks });
  const outcome = must(await runner.execute({ id: 'call', name: 'change', input: null }));
  const checkpoint = checkpoints.get('call');
  if (checkpoint === undefined) throw new Error('no checkpoint');
  return { outcome, undo: () => undoCall({ files, checkpoint, locks }) };
}

describe.skipIf(process.platform !== 'linux')('a file that a program has open for writing', () => {
  const log = () => fs.readFileSync(`${root}/dev.log`, 'utf8');
  let program: WritingProgram;
  beforeEach(async () => {
    fs.writeFileSync(`${root}/dev.log`, 'old\n');
    program = await startWriting(`${root}/dev.log`);
  });
  afterEach(() => program.close());

  it('[S352] is found with the program, whatever names the file has and however it was opened', async () => {
    const other = await startWriting(`${root}/dev.log`, 'read and write');
    fs.linkSync(`${root}/dev.log`, `${root}/name`);
    const by = [program, other].map(({ pid }) => ({ program: 'sh', pid }));
    const found = filesInUse(root, ['dev.log', 'name']);
    expect(found.map(one => ({ ...one, by: one.by.toSorted((a, b) => a.pid - b.pid) }))).toEqual(
      ['dev.log', 'name'].map(path => ({ path, kind: 'file', by: by.toSorted((a, b) => a.pid - b.pid) })),
    );
    await other.close();
    expect(filesInUse(root, ['']).find(({ path }) => path === 'name')?.by).toEqual([
      { program: 'sh', pid: program.pid },
    ]);
  });

  it.runIf(fs.existsSync('/usr/bin/perl'))(
    '[S352] is found while it is mapped to memory and not open any more',
    async () => {
      fs.writeFileSync(`${root}/mapped`, 'x'.repeat(4096));
      const mapping = await startMapping('/usr/bin/perl', `${root}/mapped`);
      expect(filesInUse(root, ['mapped'])).toEqual([
        { path: 'mapped', kind: 'file', by: [{ program: 'perl', pid: mapping.pid }] },
      ]);
      await mapping.write('hello');
      expect(fs.readFileSync(`${root}/mapped`, 'utf8')).toMatch(/^hello/);
      await mapping.close();
      expect(filesInUse(root, ['mapped'])).toEqual([]);
    },
  );

  it('[S353] is not undone under the program, which is named; it is once the program has closed it', async () => {
    const { undo } = await changeInPlace({ succeeds: true }, () => fs.appendFileSync(`${root}/dev.log`, 'call\n'));
    expect(await undo()).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining(`sh (pid ${program.pid}) has dev.log open for writing`) },
    });
    await program.close();
    expect(must(await undo()).paths).toEqual(['dev.log']);
    expect(log()).toBe('old\n');
  });

  it.each([undefined, ['dev.log']])(
    '[S353] stays as it is when a call is rolled back, and is named; paths: %j',
    async paths => {
      const { outcome } = await changeInPlace({ succeeds: false, ...(paths && { paths }) }, () => {
        fs.appendFileSync(`${root}/dev.log`, 'call\n');
      });
      expect(outcome).toMatchObject({ status: 'failed', rollback: { kind: 'restored', left: ['dev.log'] } });
      await program.write('later');
      expect(log()).toBe('old\ncall\nlater\n');
    },
  );

  it('[S354] keeps its file when a tool writes to it, also if it has several names, or cannot be written', async () => {
    const files = openTestFilesystem(root);
    must(await files.write('dev.log', 'by the tool\n'));
    await program.write('later');
    expect(log()).toBe('by the tool\nlater\n');
    fs.linkSync(`${root}/dev.log`, `${root}/name`);
    for (const refused of [await files.write('dev.log', 'again'), await files.remove('dev.log')])
      expect(refused).toMatchObject({
        ok: false,
        error: { message: expect.stringContaining(`sh (pid ${program.pid}) has it open for writing`) },
      });
    await program.write('at last');
    expect(log()).toBe('by the tool\nlater\nat last\n');
  });
});
