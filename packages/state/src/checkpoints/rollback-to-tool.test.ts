import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import type { SessionId } from '@signalbox/model';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  createTestRunner,
  createTestState,
  must,
  note,
  noted,
  openTestFilesystem,
  plan,
  setupPlan,
  temporaryDirectory,
  treeOf,
} from '../../test/builders.ts';
import { createMemoryContentStore } from '../filesystem/content-store.ts';
import { filesystem } from '../filesystem/filesystem.ts';
import { createPathLocks } from '../filesystem/path-locks.ts';
import { createResources, resource } from '../snapshots/resources.ts';
import { defineTool, fail, succeed } from '../tools/tool.ts';
import { createCheckpointStore } from './checkpoint-store.ts';
import { forkAt } from './fork-at.ts';
import { rollbackToTool } from './rollback-to-tool.ts';

const put = defineTool({
  name: 'put',
  description: 'a test',
  input: z.strictObject({ path: z.string(), content: z.string(), fails: z.boolean().default(false) }),
  output: z.null(),
  risk: 'low',
  effects: { kind: 'files' },
  async handler({ path, content, fails }, { files, session }) {
    must(await files.write(path, content));
    must(session.dispatch(setupPlan, { objective: `${path}=${content}`, status: 'set' }));
    must(session.dispatch(noted, path));
    return fails ? fail('as told') : succeed(null);
  },
});

const drop = defineTool({
  ...put,
  name: 'drop',
  input: z.strictObject({ path: z.string(), fails: z.boolean() }),
  handler({ path, fails }) {
    fs.rmSync(`${root}/${path}`, { recursive: true });
    return fails ? fail('as told') : succeed(null);
  },
});

let directory: ReturnType<typeof temporaryDirectory>;
let root: string;
beforeEach(() => {
  directory = temporaryDirectory();
  root = `${directory.path}/root`;
  fs.mkdirSync(root);
});
afterEach(() => directory.remove());

async function createCalls() {
  const store = createMemoryContentStore();
  const files = openTestFilesystem(root, { store });
  const checkpoints = createCheckpointStore();
  const { state, ids } = createTestState({ files, checkpoints });
  const locks = createPathLocks();
  const runner = createTestRunner(state, { tools: [put, drop], locks });
  const run = async (id: string, path: string, content: string, fails = false) =>
    must(await runner.execute({ id, name: 'put', input: { path, content, fails } }));
  const remove = async (id: string, path: string, fails: boolean) =>
    must(await runner.execute({ id, name: 'drop', input: { path, fails } }));
  const back = (toolCallId: string, phase: 'pre' | 'post' = 'pre') =>
    rollbackToTool({ state, locks, toolCallId, phase });
  return { state, ids, store, files, checkpoints, run, remove, back };
}

describe('rollback to a tool', () => {
  it('[S107] a pipe that a failed call deleted is lost, and stops no later rollback', async () => {
    const { run, remove, back } = await createCalls();
    fs.mkdirSync(`${root}/dir`);
    fs.writeFileSync(`${root}/dir/file`, 'original');
    execFileSync('mkfifo', [`${root}/dir/pipe`]);
    const failed = await remove('a', 'dir/pipe', true);
    expect(failed).toMatchObject({ rollback: { kind: 'restored', lost: ['dir/pipe'] } });
    await run('b', 'dir/file', 'changed');
    await remove('c', 'dir', false);
    expect(must(await back('b'))).toMatchObject({ lost: [] });
    expect(must(await back('a'))).toMatchObject({ lost: ['dir/pipe'] });
    expect(treeOf(root)).toEqual({ './dir': 'directory 755', './dir/file': 'file 644 original' });
  });

  it('[S53] state and files are exactly as they were before the call', async () => {
    const { state, run, back } = await createCalls();
    await run('a', 'a', '1');
    const [tree, slices] = [treeOf(root), state.session.snapshot().slices];
    await run('b', 'a', '2');
    await run('c', 'new/c', '3');
    must(await back('b'));
    expect([treeOf(root), state.session.snapshot().slices]).toEqual([tree, slices]);
    expect(state.session.slice(note).all()).toEqual(['a', 'a', 'new/c']);
  });

  it('[S53] it can go to after a call, where a call that failed left nothing', async () => {
    const { state, run, back } = await createCalls();
    await run('a', 'a', '1');
    await run('b', 'a', 'broken', true);
    await run('c', 'a', '3');
    must(await back('b', 'post'));
    expect(treeOf(root)).toEqual({ './a': 'file 644 1' });
    expect(state.session.slice(plan).latest()?.objective).toBe('a=1');
  });

  it('[S53] a rollback can itself be rolled back', async () => {
    const { checkpoints, run, back } = await createCalls();
    await run('a', 'a', '1');
    await run('b', 'b', '2');
    const tree = treeOf(root);
    const { checkpointId } = must(await back('a'));
    expect(treeOf(root)).toEqual({});
    expect(checkpoints.list().at(-1)).toMatchObject({ toolCallId: checkpointId, resultSummary: 'back to before a' });
    must(await back(checkpointId));
    expect(treeOf(root)).toEqual(tree);
  });

  it('[S53] a call that is not known is a named error', async () => {
    const { back } = await createCalls();
    expect(await back('nobody')).toMatchObject({ ok: false, error: { code: 'state/checkpoint-unknown' } });
  });

  it('[S54] a file that someone else changed since the last call is not overwritten', async () => {
    const { state, run, back } = await createCalls();
    await run('a', 'a', '1');
    await run('b', 'b', '1');
    fs.writeFileSync(`${root}/a`, 'by someone else');
    const tree = treeOf(root);
    expect(await back('a')).toMatchObject({
      ok: false,
      error: { code: 'state/conflict', details: { paths: ['a'] } },
    });
    expect([treeOf(root), state.session.slice(plan).latest()?.objective]).toEqual([tree, 'b=1']);
    expect(await run('c', 'c', '1')).toMatchObject({ status: 'succeeded' });
  });

  it('[S54] what someone else changed between two calls is not overwritten either, though later calls have seen it', async () => {
    const { run, back } = await createCalls();
    await run('a', 'a', '1');
    fs.writeFileSync(`${root}/a`, 'by someone else');
    await run('b', 'b', '1');
    await run('c', 'a', '2');
    expect(await back('a')).toMatchObject({
      ok: false,
      error: { code: 'state/conflict', details: { paths: ['a'] } },
    });
    expect(fs.readFileSync(`${root}/a`, 'utf8')).toBe('2');
    must(await back('c'));
    expect(fs.readFileSync(`${root}/a`, 'utf8')).toBe('by someone else');
  });

  it('[S25] what someone else changed where the calls did not stays', async () => {
    const { run, back } = await createCalls();
    fs.writeFileSync(`${root}/theirs`, 'before');
    await run('a', 'a', '1');
    fs.writeFileSync(`${root}/theirs`, 'by someone else');
    await run('b', 'b', '1');
    must(await back('a'));
    expect(treeOf(root)).toEqual({ './theirs': 'file 644 by someone else' });
  });
});

describe('fork', () => {
  async function forkInto(
    made: Awaited<ReturnType<typeof createCalls>>,
    toolCallId: string,
    phase: 'pre' | 'post',
    path: string,
  ) {
    fs.mkdirSync(path, { recursive: true });
    const files = openTestFilesystem(path, { store: made.store });
    const into = { sessionId: made.ids.mint<SessionId>(), resources: createResources([resource(filesystem, files)]) };
    return forkAt({ state: made.state, toolCallId, phase, into });
  }

  it('[S55] it has the files and the state of that point, in its own directory and session', async () => {
    const made = await createCalls();
    fs.mkdirSync(`${root}/node_modules`);
    fs.mkdirSync(`${root}/empty`, { mode: 0o700 });
    fs.symlinkSync('a', `${root}/link`);
    await made.run('a', 'a', '1');
    await made.run('b', 'a', '2');
    const tree = treeOf(root);
    const { state, lost } = must(await forkInto(made, 'a', 'post', `${directory.path}/fork`));
    expect(treeOf(`${directory.path}/fork`)).toEqual({
      './a': 'file 644 1',
      './empty': 'directory 700',
      './link': 'link a',
    });
    expect(lost).toEqual(['node_modules']);
    expect(state.session.parentId).toBe(made.state.session.id);
    expect(made.state.session.childrenIds).toEqual([state.session.id]);
    expect(state.session.slice(plan).latest()?.objective).toBe('a=1');
    expect(state.session.slice(note).all()).toEqual(['a']);

    must(
      await createTestRunner(state, { tools: [put] }).execute({
        id: 'x',
        name: 'put',
        input: { path: 'x', content: 'y' },
      }),
    );
    expect(state.session.slice(note).all()).toEqual(['a', 'x']);
    expect(treeOf(root)).toEqual(tree);
    expect(made.state.session.slice(note).all()).toEqual(['a', 'a']);
    expect(made.state.session.slice(plan).latest()?.objective).toBe('a=2');
  });

  it('[S55] a directory that is not empty, is the same, or is nested is refused', async () => {
    const made = await createCalls();
    await made.run('a', 'dir/a', '1');
    fs.mkdirSync(`${directory.path}/full`);
    fs.writeFileSync(`${directory.path}/full/x`, '');
    for (const path of [root, `${root}/dir`, directory.path, `${directory.path}/full`]) {
      expect(await forkInto(made, 'a', 'pre', path)).toMatchObject({ ok: false, error: { code: 'state/fork-failed' } });
    }
    expect(await forkInto(made, 'nobody', 'pre', `${directory.path}/fork`)).toMatchObject({
      ok: false,
      error: { code: 'state/checkpoint-unknown' },
    });
  });
});
