import * as fs from 'node:fs';
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
import { defineTool, fail } from '../tools/tool.ts';
import { createMemoryContentStore } from './content-store.ts';
import { openHostFilesystem } from './host-filesystem.ts';
import { createPathLocks } from './path-locks.ts';
import { recoverPending } from './recovery.ts';
import { createMemoryUndoLog } from './undo-log.ts';

let directory: ReturnType<typeof temporaryDirectory>;
let root: string;
beforeEach(() => {
  directory = temporaryDirectory();
  root = `${directory.path}/root`;
  fs.mkdirSync(root);
  fs.mkdirSync(`${directory.path}/elsewhere`);
  fs.writeFileSync(`${root}/file`, 'original');
  fs.writeFileSync(`${directory.path}/elsewhere/file`, 'not ours');
});
afterEach(() => directory.remove());

const replacements = {
  'a link': () => fs.symlinkSync('elsewhere', root),
  'another directory': () => fs.cpSync(`${directory.path}/elsewhere`, root, { recursive: true }),
};

describe.each(Object.entries(replacements))('a root that was moved away and replaced by %s', (_, replace) => {
  const ports = () => ({ store: createMemoryContentStore(), undoLog: createMemoryUndoLog() });
  const moveAway = () => {
    fs.renameSync(root, `${directory.path}/moved`);
    replace();
  };

  it('[S103] is not restored into, and nothing is touched', async () => {
    const { store, undoLog } = ports();
    const breaker = defineTool({
      name: 'breaker',
      description: 'a test',
      input: z.null(),
      output: z.null(),
      risk: 'low',
      effects: { kind: 'files' },
      handler() {
        fs.writeFileSync(`${root}/file`, 'broken');
        moveAway();
        return fail('as told');
      },
    });
    const files = openTestFilesystem(root, { store, undoLog });
    const locks = createPathLocks();
    const runner = createTestRunner(createTestState({ files }).state, { tools: [breaker], locks });
    const outcome = must(await runner.execute({ id: '1', name: 'breaker', input: null }));
    expect(outcome).toMatchObject({ rollback: { kind: 'failed', error: { code: 'state/root-replaced' } } });
    expect(treeOf(`${directory.path}/elsewhere`)).toEqual({ './file': 'file 644 not ours' });
    expect(treeOf(`${directory.path}/moved`)).toEqual({ './file': 'file 644 broken' });

    const recover = () =>
      recoverPending({ undoLog, locks, open: at => openHostFilesystem({ root: at, store, undoLog }) });
    expect(await recover()).toMatchObject([{ outcome: { kind: 'failed', error: { code: 'state/root-replaced' } } }]);
    expect(treeOf(`${directory.path}/elsewhere`)).toEqual({ './file': 'file 644 not ours' });
    expect(fs.readFileSync(`${root}/file`, 'utf8')).toBe('not ours');

    fs.rmSync(root, { recursive: true });
    fs.renameSync(`${directory.path}/moved`, root);
    expect(await recover()).toMatchObject([{ outcome: { kind: 'rolled-back' } }]);
    expect(treeOf(root)).toEqual({ './file': 'file 644 original' });
  });

  it('[S103] is not written by a file tool, captured or applied to', async () => {
    const { store, undoLog } = ports();
    const files = openTestFilesystem(root, { store, undoLog });
    const before = must(await files.snapshot());
    must(await files.write('file', 'changed'));
    const staged = must(await files.stage(before, { id: 'undo', left: 'present' }));
    moveAway();
    expect(await staged.apply()).toMatchObject({ error: { code: 'state/root-replaced' } });
    expect(await files.stage(before, { id: 'again', left: 'present' })).toMatchObject({
      error: { code: 'state/root-replaced' },
    });
    expect(await files.write('file', 'x')).toMatchObject({ ok: false });
    expect(await files.read('file')).toMatchObject({ ok: false });
    expect(await files.snapshot()).toMatchObject({ ok: false });
    expect(treeOf(`${directory.path}/elsewhere`)).toEqual({ './file': 'file 644 not ours' });
  });
});
