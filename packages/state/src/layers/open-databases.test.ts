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
import { createCheckpointStore } from '../checkpoints/checkpoint-store.ts';
import { undoCall } from '../checkpoints/undo-call.ts';
import { createPathLocks } from '../filesystem/path-locks.ts';
import { defineTool, fail, succeed } from '../tools/tool.ts';
import { openDatabases } from './open-databases.ts';

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
  it('[S87] is found by what it is, with and without a log, also below a directory; other open files are not', () => {
    const file = fs.openSync(`${root}/open.txt`, 'w');
    expect(openDatabases(root, ['app.db', 'open.txt'])).toEqual(['app.db']);
    expect(openDatabases(root, ['app.db-journal'])).toEqual(['app.db']);
    expect(openDatabases(root, [''])).toEqual(['app.db']);
    fs.closeSync(file);
    server.close();
    expect(openDatabases(root, [''])).toEqual([]);
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
      error: { code: 'state/restore-failed', message: expect.stringContaining('a program has app.db open') },
    });
    expect(treeOf(root)).toEqual(before);
    server.close();
    expect(must(await undo()).paths.toSorted()).toEqual(['app.db', 'file']);
    expect(rows()).toBe(1);
  });
});
