import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  createCheckpointStore,
  createPathLocks,
  defineTool,
  fail,
  type HostFiles,
  nodeHostFiles,
  openHostContentStore,
  openHostUndoLog,
  rollbackToTool,
  succeed,
} from '../src/index.ts';
import { createTestRunner, createTestState, must, openTestFilesystem, temporaryDirectory } from './builders.ts';

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
  fs.mkdirSync(`${directory.path}/root/dir`, { recursive: true });
});
afterEach(() => directory.remove());

/**
 * A disk that remembers what a loss of power could still take away: contents and directory entries that were changed and
 * not synced. Each time an undo record is written or removed, and when a restore does its first step, it notes what is at
 * risk just then.
 */
function watchedDisk(undo: string) {
  const unsynced = new Set<string>();
  const notes: { readonly event: string; readonly atRisk: readonly string[] }[] = [];
  const parent = (path: string) => path.slice(0, path.lastIndexOf('/'));
  // Where contents wait before they get their names may be lost at any time.
  const isIncoming = (path: string) => path.includes('/incoming-');
  const matters = (path: string) => !path.startsWith(undo) && !isIncoming(path);
  const note = (event: string, counts = matters) =>
    notes.push({ event, atRisk: [...unsynced].filter(path => counts(path)).sort() });
  const changes = new Map<string, number>();
  const changed = (...paths: string[]) => {
    for (const path of paths) {
      unsynced.add(path);
      changes.set(path, (changes.get(path) ?? 0) + 1);
    }
  };
  const port: HostFiles = {
    ...nodeHostFiles,
    create(path, mode) {
      changed(path, parent(path));
      return nodeHostFiles.create(path, mode);
    },
    append(path, mode) {
      const writer = nodeHostFiles.append(path, mode);
      return {
        close: writer.close,
        write(chunk) {
          if (!Buffer.from(chunk).includes('"restoring"')) note('a record is written');
          changed(path);
          writer.write(chunk);
        },
      };
    },
    mkdir(path, mode) {
      changed(parent(path), path);
      nodeHostFiles.mkdir(path, mode);
    },
    symlink(target, path) {
      changed(parent(path));
      nodeHostFiles.symlink(target, path);
    },
    rename(from, to) {
      if (from.endsWith('-new')) note('a restore does its first step', path => !isIncoming(path));
      if (unsynced.delete(from)) unsynced.add(to);
      for (const path of [...unsynced]) {
        if (path.startsWith(`${from}/`) && unsynced.delete(path)) unsynced.add(to + path.slice(from.length));
      }
      changed(parent(from), parent(to));
      nodeHostFiles.rename(from, to);
    },
    unlink(path) {
      if (path.startsWith(undo)) note('a record is removed');
      unsynced.delete(path);
      changed(parent(path));
      nodeHostFiles.unlink(path);
    },
    rmdir(path) {
      unsynced.delete(path);
      changed(parent(path));
      nodeHostFiles.rmdir(path);
    },
    async sync(path) {
      const seen = changes.get(path);
      await nodeHostFiles.sync(path);
      if (changes.get(path) === seen) unsynced.delete(path);
    },
  };
  return { port, notes };
}

describe('the order of syncs', () => {
  it('[S26] [S28] nothing is at risk that a record refers to when it is written, that a restore relies on when it does its first step, or that it did when its record is removed', async () => {
    const root = fs.realpathSync(`${directory.path}/root`);
    const undo = `${directory.path}/undo`;
    const disk = watchedDisk(undo);
    const undoLog = openHostUndoLog(undo, disk.port);
    const store = openHostContentStore(`${directory.path}/blobs`, disk.port);
    const files = openTestFilesystem(root, { store, undoLog, files: disk.port });
    const { state } = createTestState({ files, checkpoints: createCheckpointStore() });
    const change = defineTool({
      name: 'change',
      description: 'a test',
      input: z.boolean(),
      output: z.null(),
      risk: 'low',
      effects: { kind: 'files' },
      handler(works) {
        fs.rmSync(`${root}/dir`, { recursive: true, force: true });
        fs.mkdirSync(`${root}/dir/new`, { recursive: true });
        fs.writeFileSync(`${root}/dir/new/${works}`, String(works));
        fs.writeFileSync(`${root}/a`, String(works));
        return works ? succeed(null) : fail('as told');
      },
    });
    fs.writeFileSync(`${root}/a`, 'original');
    fs.writeFileSync(`${root}/dir/b`, 'original');
    fs.symlinkSync('b', `${root}/dir/link`);
    const locks = createPathLocks();
    const runner = createTestRunner(state, { tools: [change], locks });
    must(await runner.execute({ id: '1', name: 'change', input: true }));
    must(await runner.execute({ id: '2', name: 'change', input: false }));
    must(await rollbackToTool({ state, locks, toolCallId: '1' }));

    expect(disk.notes.map(({ event }) => event)).toEqual([
      'a record is written',
      'a record is removed',
      'a record is written',
      'a restore does its first step',
      'a record is removed',
      'a record is written',
      'a restore does its first step',
      'a record is removed',
    ]);
    for (const [index, { event, atRisk }] of disk.notes.entries()) {
      // The staging directory may still come back empty: its removal is the last thing, and nothing depends on it.
      const inStaging = (path: string) => event === 'a record is removed' && path === root;
      // A restore on its own refers to nothing until it begins.
      const own = index === 5;
      // What a call captured after it ended is referred to only by the next record.
      const ofBlobs = (path: string) => event === 'a record is removed' && path.startsWith(`${directory.path}/blobs`);
      const risks = atRisk.filter(path => !inStaging(path) && !ofBlobs(path) && !own);
      expect({ index, event, risks }).toEqual({ index, event, risks: [] });
    }
  });
});
