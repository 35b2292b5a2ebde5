import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  createTestRunner,
  createTestState,
  must,
  openTestFilesystem,
  plan,
  setupPlan,
  temporaryDirectory,
} from '../../test/builders.ts';
import { filesystem } from '../filesystem/filesystem.ts';
import { openHostContentStore } from '../filesystem/host-content-store.ts';
import { createResources, resource } from '../snapshots/resources.ts';
import { defineTool, fail, succeed } from '../tools/tool.ts';
import { openHostCheckpointLog } from './checkpoint-log.ts';
import { createCheckpointStore, openCheckpointStore } from './checkpoint-store.ts';

/** Writes what it is told to `file.txt` and into the plan. */
const setTo = defineTool({
  name: 'set',
  description: 'a test',
  input: z.string(),
  output: z.string(),
  risk: 'low',
  effects: { kind: 'files' },
  async handler(value, { files, session }) {
    must(await files.write('file.txt', value));
    must(session.dispatch(setupPlan, { objective: value, status: 'set' }));
    return value.startsWith('bad') ? fail('as told') : succeed(`set to ${value}`);
  },
});

describe('checkpoint store', () => {
  it('[S51] every call is recorded in order with its snapshots, success, summary, time and duration', async () => {
    const checkpoints = createCheckpointStore();
    const { state, clock } = createTestState({ checkpoints });
    const slow = defineTool({
      name: 'slow',
      description: 'a test',
      input: z.null(),
      output: z.null(),
      risk: 'low',
      effects: { kind: 'none' },
      handler() {
        clock.advance(25);
        return succeed(null);
      },
    });
    const runner = createTestRunner(state, { tools: [setTo, slow] });
    must(await runner.execute({ id: 'a', name: 'set', input: 'one' }));
    must(await runner.execute({ id: 'b', name: 'set', input: 'bad' }));
    must(await runner.execute({ id: 'c', name: 'slow', input: null }));
    expect(
      checkpoints.list().map(({ pre, post, ...facts }) => ({
        ...facts,
        pre: [pre.metadata.phase, pre.metadata.tag, pre.session.slices.Plan],
        post: post && [post.metadata.phase, post.metadata.tag, post.session.slices.Plan],
      })),
    ).toEqual([
      {
        toolCallId: 'a',
        toolName: 'set',
        outcome: 'succeeded',
        resultSummary: '"set to one"',
        elapsedMs: 0,
        recordedAt: '2023-11-14T22:13:20.000Z',
        pre: ['pre_tool', 'pre:a', []],
        post: ['post_tool', 'post:a', [{ objective: 'one', status: 'set' }]],
      },
      {
        toolCallId: 'b',
        toolName: 'set',
        outcome: 'failed',
        resultSummary: 'call b of set failed: as told',
        elapsedMs: 0,
        recordedAt: '2023-11-14T22:13:20.000Z',
        pre: ['pre_tool', 'pre:b', [{ objective: 'one', status: 'set' }]],
        post: null,
      },
      {
        toolCallId: 'c',
        toolName: 'slow',
        outcome: 'succeeded',
        resultSummary: 'null',
        elapsedMs: 25,
        recordedAt: '2023-11-14T22:13:20.025Z',
        pre: ['pre_tool', 'pre:c', [{ objective: 'one', status: 'set' }]],
        post: ['post_tool', 'post:c', [{ objective: 'one', status: 'set' }]],
      },
    ]);
    expect(checkpoints.getPreSnapshot('a')).toBe(checkpoints.get('a')?.pre);
    expect([checkpoints.getPostSnapshot('b'), checkpoints.getPreSnapshot('unknown')]).toEqual([null, null]);
  });

  it('[S51] the last hundred calls are kept', async () => {
    const checkpoints = createCheckpointStore();
    const { state } = createTestState({ checkpoints });
    const runner = createTestRunner(state, { tools: [setTo] });
    for (let index = 0; index < 103; index++)
      must(await runner.execute({ id: `${index}`, name: 'set', input: `${index}` }));
    const ids = checkpoints.list().map(one => one.toolCallId);
    expect([ids.length, ids[0], ids.at(-1), checkpoints.get('2')]).toEqual([100, '3', '102', undefined]);
  });
});

describe('durable checkpoints', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  beforeEach(() => {
    directory = temporaryDirectory();
    fs.mkdirSync(`${directory.path}/root`);
  });
  afterEach(() => directory.remove());

  async function openState(capacity?: number) {
    const store = openHostContentStore(`${directory.path}/blobs`);
    const files = openTestFilesystem(`${directory.path}/root`, { store });
    const log = openHostCheckpointLog(`${directory.path}/checkpoints.jsonl`);
    const resources = createResources([resource(filesystem, files)]);
    const opened = await openCheckpointStore({ log, resources, ...(capacity && { capacity }) });
    if (!opened.ok) return opened;
    const { state } = createTestState({ files, checkpoints: opened.value });
    return { ok: true as const, value: { state, checkpoints: opened.value } };
  }

  it('[S52] they are there after a restart, and restore', async () => {
    const first = must(await openState());
    const runner = createTestRunner(first.state, { tools: [setTo] });
    must(await runner.execute({ id: 'a', name: 'set', input: 'one' }));
    must(await runner.execute({ id: 'b', name: 'set', input: 'two' }));
    const second = must(await openState());
    const facts = ({ list }: typeof first.checkpoints) => list().map(({ pre: _, post: __, ...own }) => own);
    expect(facts(second.checkpoints)).toEqual(facts(first.checkpoints));
    const after = second.checkpoints.getPostSnapshot('a');
    const left = second.checkpoints.getPostSnapshot('b');
    if (after === null || left === null) throw new Error('both calls succeeded');
    must(await second.state.restore(after, { left }));
    expect(fs.readFileSync(`${directory.path}/root/file.txt`, 'utf8')).toBe('one');
    expect(second.state.session.slice(plan).latest()?.objective).toBe('one');
  });

  it('[S52] a torn last record is cut off, another bad one is a named error', async () => {
    const { state } = must(await openState());
    const runner = createTestRunner(state, { tools: [setTo] });
    must(await runner.execute({ id: 'a', name: 'set', input: 'one' }));
    const file = `${directory.path}/checkpoints.jsonl`;
    fs.appendFileSync(file, '{"version":1,"toolCa');
    expect(
      must(await openState())
        .checkpoints.list()
        .map(one => one.toolCallId),
    ).toEqual(['a']);
    fs.appendFileSync(file, '{"version":1}\n');
    expect(await openState()).toMatchObject({ ok: false, error: { code: 'state/checkpoint-unreadable' } });
  });

  it('[S52] the file does not grow without end', async () => {
    const { state } = must(await openState(3));
    const runner = createTestRunner(state, { tools: [setTo] });
    for (let index = 0; index < 20; index++)
      must(await runner.execute({ id: `${index}`, name: 'set', input: `${index}` }));
    const lines = fs.readFileSync(`${directory.path}/checkpoints.jsonl`, 'utf8').trim().split('\n').length;
    expect(lines).toBeLessThan(6);
    expect(
      must(await openState(3))
        .checkpoints.list()
        .map(one => one.toolCallId),
    ).toEqual(['17', '18', '19']);
  });

  it('[S52] a checkpoint that cannot be written is a warning on a call that succeeded', async () => {
    const { state } = must(await openState());
    fs.mkdirSync(`${directory.path}/checkpoints.jsonl`);
    const outcome = must(
      await createTestRunner(state, { tools: [setTo] }).execute({ id: 'a', name: 'set', input: 'one' }),
    );
    expect(outcome).toMatchObject({
      status: 'succeeded',
      warnings: [expect.stringContaining('will not survive a restart')],
    });
  });
});
