// Captures and restores a directory while the disk is really full, and prints what happened.
// node full-disk-child.ts DIRECTORY disk|limit
// disk:  DIRECTORY is on a small disk of its own, which is filled.
// limit: this process may not write more than a page into a file.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as z from 'zod';
import {
  createPathLocks,
  defineTool,
  fail,
  openHostContentStore,
  openHostFilesystem,
  openHostUndoLog,
  recoverPending,
  succeed,
} from '../src/index.ts';
import { createTestRunner, createTestState, must, treeOf } from './builders.ts';

const [directory = '', kind = ''] = process.argv.slice(2);
const root = `${directory}/root`;
const large = (letter: string) => letter.repeat(100_000);
fs.mkdirSync(`${root}/dir`, { recursive: true });
fs.writeFileSync(`${root}/dir/large`, large('a'));
fs.writeFileSync(`${root}/small`, 'small');

const undoLog = openHostUndoLog(`${directory}/undo`);
const store = openHostContentStore(`${directory}/blobs`);
const open = () => openHostFilesystem({ root, store, undoLog });
const change = defineTool({
  name: 'change',
  description: 'a test',
  input: z.boolean(),
  output: z.null(),
  risk: 'low',
  effects: { kind: 'files' },
  handler(works) {
    fs.rmSync(`${root}/dir`, { recursive: true });
    fs.writeFileSync(`${root}/small`, 'changed');
    fs.mkdirSync(`${root}/new`);
    if (!works) fill();
    return works ? succeed(null) : fail('as told');
  },
});
const look = defineTool({
  name: 'look',
  description: 'a test',
  input: z.boolean(),
  output: z.null(),
  risk: 'low',
  effects: { kind: 'files' },
  handler: () => succeed(null),
});
const { state } = createTestState({ files: must(open()) });
const runner = createTestRunner(state, { tools: [change] });
const before = treeOf(root);

fill();
const notCaptured = must(await runner.execute({ id: '1', name: 'change', input: true }));
const afterNotCaptured = treeOf(root);
empty();
const notRestored = must(await runner.execute({ id: '2', name: 'change', input: false }));
const afterNotRestored = treeOf(root);
const ready = createTestRunner(state, { tools: [change, look], recover });
const blocked = must(await ready.execute({ id: '3', name: 'change', input: true }));
const stillFull = await recover();
const afterStillFull = treeOf(root);
empty();
// A call in another directory is under way meanwhile, and stays so.
const other = { version: 1, id: 'other', callId: 'other', tool: 'other', startedAt: 0 } as const;
await undoLog.put({ ...other, work: { kind: 'files', root: `${directory}/other`, before: null } });
await undoLog.put({ ...other, id: 'external', work: { kind: 'external' } });
const unblocked = must(await ready.execute({ id: '4', name: 'look', input: true }));
const afterRecovery = treeOf(root);
const underWay = (await undoLog.pending()).map(({ id }) => id).sort();
const again = must(await runner.execute({ id: '5', name: 'change', input: true }));

process.stdout.write(
  JSON.stringify({
    before,
    notCaptured,
    afterNotCaptured,
    notRestored,
    afterNotRestored,
    blocked,
    stillFull,
    afterStillFull,
    unblocked,
    underWay,
    afterRecovery,
    again,
  }),
);

function recover(at?: string) {
  return recoverPending({ undoLog, locks: createPathLocks(), open, ...(at !== undefined && { root: at }) });
}

function fill(): void {
  if (kind === 'limit') {
    limit('4096');
    return;
  }
  const ballast = fs.openSync(`${directory}/ballast`, 'a');
  try {
    for (const chunk of [Buffer.alloc(1 << 16), Buffer.alloc(512)]) {
      for (;;) if (!written(ballast, chunk)) break;
    }
  } finally {
    fs.closeSync(ballast);
  }
}

function empty(): void {
  if (kind === 'limit') limit('unlimited');
  else fs.rmSync(`${directory}/ballast`);
}

function limit(bytes: string): void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`]);
}

function written(fd: number, chunk: Buffer): boolean {
  try {
    return fs.writeSync(fd, chunk) === chunk.length;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw cause;
  }
}
