import type { Json } from '@signalbox/model';
import type { Commit } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { el } from '../../test/elements.ts';
import { type Harness, harness } from '../../test/harness.ts';
import { type MemoryFiles, memoryFiles } from '../../test/memory-files.ts';
import { sha256 } from '../artifacts/sha256.ts';
import { Fragment } from '../jsx/element.ts';
import { Effect, If, Task } from '../nodes/components.ts';
import type { TaskContext } from '../nodes/handlers.ts';
import { definePlan, type PlanDefinition } from '../plan-definition.ts';
import type { FileAccess } from './plan-files.ts';

const state = z.object({ seen: z.array(z.string()).default([]) });

/** A task that ends when it is told to, so that a run stays alive. */
function held() {
  let end = () => {};
  const ended = new Promise<void>(resolve => {
    end = resolve;
  });
  return { run: () => ended, end: () => end() };
}

const reads = async ({ runs, run }: Harness, frame: number) =>
  Object.fromEntries(await runs.at(run, 'read', frame)) as Record<string, Json>;

function start(world: Harness, plan: PlanDefinition<never, never> | object, files: MemoryFiles | undefined) {
  return world.start(plan as never, { blobs: world.runs, ...(files && { files }) });
}

/** A render that does one thing with files, and shows nothing. */
const only =
  (look: (fs: FileAccess) => unknown) =>
  ({ fs }: { readonly fs: FileAccess }) => {
    look(fs);
    return null;
  };

describe('files that renders read', () => {
  it('[P136] are recorded with their frame, and contents are blobs before it is committed', async () => {
    const world = harness();
    const files = memoryFiles({ 'a.txt': 'hello', 'dir/b.txt': 'b' });
    const kept = new Set<string>();
    const commit: Commit = {
      async commit(writes, guard) {
        if (writes.frame !== undefined) expect([...kept]).toEqual([sha256('hello')]);
        return world.runs.commit(writes, guard);
      },
    };
    const blobs = {
      async put(contents: readonly Uint8Array[]) {
        for (const content of contents) kept.add(sha256(content));
        return world.runs.put(contents);
      },
    };
    const plan = definePlan({
      name: 'reads',
      render: ({ fs }) => {
        const all = [fs.read('a.txt'), fs.read('none'), fs.list('dir'), fs.exists('a.txt'), fs.stat('dir/b.txt')];
        return el(Task, { id: 't', input: all.map(one => one ?? null), run: ({ input }: TaskContext) => input });
      },
    });
    const ended = await world.end(world.start(plan, { files, blobs, commit }));
    expect(ended).toMatchObject({ status: 'completed' });
    expect((await world.runs.tasks(world.run))[0]?.result).toEqual([
      'hello',
      null,
      [{ name: 'b.txt', kind: 'file' }],
      true,
      { kind: 'file', bytes: 1 },
    ]);
    expect(await reads(world, 0)).toEqual({
      'file:read:a.txt': { digest: sha256('hello'), bytes: 5 },
      'file:read:none': { absent: true },
      'file:list:dir': { value: [{ name: 'b.txt', kind: 'file' }] },
      'file:stat:a.txt': { value: { kind: 'file', bytes: 5 } },
      'file:stat:dir/b.txt': { value: { kind: 'file', bytes: 1 } },
    });
    expect(await world.runs.frame(world.run, 0)).toMatchObject({ verifiable: true });
  });

  it('[P136] that cannot be stored leave a frame that cannot be verified', async () => {
    const world = harness();
    const plan = definePlan({ name: 'reads', render: only(fs => fs.read('a.txt')) });
    await world.end(world.start(plan, { files: memoryFiles({ 'a.txt': 'x' }) }));
    expect(await world.runs.frame(world.run, 0)).toMatchObject({ verifiable: false });
  });

  it('[P136] are recorded, but reads of handlers are not: a frame with their writes cannot be verified', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'handler',
      state,
      render: ctx =>
        el(Task, { id: 't', run: () => 1, onFinished: () => ctx.state.set('seen', [ctx.fs.read('a.txt') ?? '']) }),
    });
    const ended = await world.end(start(world, plan, memoryFiles({ 'a.txt': 'x' })));
    expect(ended).toMatchObject({ output: { seen: ['x'] } });
    const frames = await world.runs.frames(world.run, 0, 10);
    expect(frames.map(({ verifiable }) => verifiable)).toEqual([true, false]);
  });

  it('[P137] are watched, and rendered again when they change; nothing else is', async () => {
    const world = harness();
    const files = memoryFiles({ 'a.txt': 'one', 'other.txt': 'x' });
    const work = held();
    const seen: (string | undefined)[] = [];
    const plan = definePlan({
      name: 'watches',
      render: ({ fs }) => {
        seen.push(fs.read('a.txt'));
        return el(Task, { id: 't', run: work.run });
      },
    });
    const run = start(world, plan, files);
    await world.calm();
    expect([seen, files.watched]).toEqual([['one'], ['a.txt']]);
    files.change('other.txt', 'y');
    world.timers.advance(1000);
    await world.calm();
    files.change('a.txt', 'one');
    world.timers.advance(1000);
    await world.calm();
    expect([seen, (await world.runs.run(world.run))?.frames]).toEqual([['one'], 1]);
    files.change('a.txt', 'two');
    world.timers.advance(1000);
    await world.calm();
    files.change('a.txt', undefined);
    world.timers.advance(1000);
    await world.calm();
    expect(seen).toEqual(['one', 'two', undefined]);
    expect((await world.runs.frame(world.run, 1))?.trigger.kind).toBe('file');
    expect([await reads(world, 1), await reads(world, 2)]).toEqual([
      { 'file:read:a.txt': { digest: sha256('two'), bytes: 3 } },
      { 'file:read:a.txt': { absent: true } },
    ]);
    work.end();
    expect(await world.end(run)).toMatchObject({ status: 'completed' });
    expect(files.watched).toEqual([]);
  });

  it('[P137] are no longer watched when no render reads them', async () => {
    const world = harness();
    const files = memoryFiles({ 'a.txt': 'go', 'b.txt': 'x' });
    const work = held();
    const plan = definePlan({
      name: 'watches',
      render: ({ fs }) =>
        el(
          Fragment,
          {},
          el(If, { condition: () => fs.read('a.txt') === 'go' }, el(Inner, { read: fs.read })),
          el(Task, { id: 't', run: work.run }),
        ),
    });
    const run = start(world, plan, files);
    await world.calm();
    expect(files.watched).toEqual(['a.txt', 'b.txt']);
    files.change('a.txt', 'stop');
    world.timers.advance(1000);
    await world.calm();
    expect([files.watched, Object.keys(await reads(world, 1))]).toEqual([['a.txt'], ['file:read:a.txt']]);
    work.end();
    await world.end(run);
  });

  it('[P138] are current: files that work left are seen by the frame of its end, without waiting', async () => {
    const world = harness();
    const files = memoryFiles({ 'a.txt': 'before' });
    const plan = definePlan({
      name: 'moment',
      state,
      render: ctx => {
        const text = ctx.fs.read('a.txt') ?? '';
        return el(
          Fragment,
          {},
          el(Task, { id: 'writes', run: ({ fs }: TaskContext) => fs.write('a.txt', 'after') }),
          el(Effect, {
            id: 'notes',
            deps: [text],
            run: () => ctx.state.update('seen', seen => [...seen, text]),
          }),
        );
      },
    });
    expect(await world.end(start(world, plan, files))).toMatchObject({ output: { seen: ['before', 'after'] } });
    const written = (await world.runs.events(world.run, 0, 100)).filter(({ event }) => event.type === 'file.written');
    expect(written.map(({ event }) => event)).toMatchObject([
      { path: 'a.txt', digest: sha256('after'), bytes: 5, node: 'writes' },
    ]);
  });

  it('[P138] are fixed within a frame', async () => {
    const world = harness();
    const files = memoryFiles({ 'a.txt': 'one' });
    const both: (string | undefined)[] = [];
    const plan = definePlan({
      name: 'still',
      render: ({ fs }) => {
        both.push(fs.read('a.txt'));
        files.change('a.txt', 'two');
        both.push(fs.read('a.txt'));
        return null;
      },
    });
    await world.end(start(world, plan, files));
    expect(both.slice(0, 2)).toEqual(['one', 'one']);
  });

  it.each([
    ['a path that leads out', (fs: FileAccess) => fs.read('../secret'), 'leaves the root'],
    ['what is no text', (fs: FileAccess) => fs.read('binary'), 'not UTF-8 text'],
    ['a path that is too long', (fs: FileAccess) => fs.exists('x'.repeat(901)), 'a path is a text'],
    ['an empty path', (fs: FileAccess) => fs.list(''), 'a path is a text'],
  ])('[P139] are refused with the reason: %s', async (_, look, reason) => {
    const world = harness();
    const files = memoryFiles();
    files.write('binary', Buffer.of(0xff, 0xfe));
    const plan = definePlan({ name: 'refused', render: only(look) });
    expect(await world.end(start(world, plan, files))).toMatchObject({
      status: 'failed',
      error: { code: 'plan/file-refused', message: expect.stringContaining(reason) },
    });
  });

  it('[P139] are absent if there are none', async () => {
    const world = harness();
    const plan = definePlan({ name: 'none', render: only(fs => fs.read('a')) });
    expect(await world.end(start(world, plan, undefined))).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('there are no files here') },
    });
  });
});

/** A component of its own, whose reads are its own. */
function Inner({ read }: { readonly read: FileAccess['read'] }) {
  read('b.txt');
  return null;
}

describe('files that plans write', () => {
  const plan = (finish: (fs: FileAccess) => void) =>
    definePlan({
      name: 'writes',
      state,
      render: ctx =>
        el(Task, {
          id: 't',
          run: () => 1,
          onFinished: () => {
            ctx.state.set('seen', ['finished']);
            finish(ctx.fs);
          },
        }),
    });

  it('[P141] are written in the flush of the handler, with an event that says what and by whom', async () => {
    const world = harness();
    const files = memoryFiles();
    const finish = (fs: FileAccess) => {
      fs.write('a/b.txt', 'text');
      fs.write('c.bin', Uint8Array.of(1, 2));
      expect(files.text('a/b.txt')).toBeUndefined();
    };
    expect(await world.end(start(world, plan(finish), files))).toMatchObject({ status: 'completed' });
    expect([files.text('a/b.txt'), files.read('c.bin')]).toEqual(['text', Buffer.of(1, 2)]);
    const written = (await world.runs.events(world.run, 0, 100)).filter(({ event }) => event.type === 'file.written');
    expect(written.map(({ event }) => event)).toMatchObject([
      { path: 'a/b.txt', digest: sha256('text'), bytes: 4, node: 't', handler: 'onFinished' },
      { path: 'c.bin', bytes: 2 },
    ]);
  });

  it('[P141] by a handler that throws are not written', async () => {
    const world = harness();
    const files = memoryFiles();
    const finish = (fs: FileAccess) => {
      fs.write('a.txt', 'never');
      throw new Error('no');
    };
    expect(await world.end(start(world, plan(finish), files))).toMatchObject({ status: 'failed' });
    expect(files.text('a.txt')).toBeUndefined();
  });

  it('[P141] that cannot be written fail their whole handler', async () => {
    const world = harness();
    const files = memoryFiles();
    files.fault = 'no room';
    expect(
      await world.end(
        start(
          world,
          plan(fs => fs.write('a.txt', 'x')),
          files,
        ),
      ),
    ).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('no room') },
    });
    expect(await world.state()).toEqual({ seen: [] });
  });

  it('[P141] cannot be written by a render', async () => {
    const world = harness();
    const renders = definePlan({ name: 'renders', render: only(fs => fs.write('a', 'b')) });
    expect(await world.end(start(world, renders, memoryFiles()))).toMatchObject({
      error: { code: 'plan/render-write' },
    });
  });
});
