import { type ArtifactId, err, failure } from '@signalbox/model';
import type { Commit, MemoryRuns } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { el } from '../../test/elements.ts';
import { type Harness, harness } from '../../test/harness.ts';
import { memoryFiles } from '../../test/memory-files.ts';
import type { PlanContext } from '../context.ts';
import { Fragment } from '../jsx/element.ts';
import { Effect, Task } from '../nodes/components.ts';
import type { TaskContext } from '../nodes/handlers.ts';
import { type AnyPlan, definePlan } from '../plan-definition.ts';

const DOT =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

type Context = PlanContext<unknown, { readonly id: string | undefined; readonly done: boolean }>;

/** A plan whose one task ends, and whose handler does `finish`. */
function handlerPlan(finish: (ctx: Context) => void): AnyPlan {
  return definePlan({
    name: 'artifacts',
    state: z.object({ id: z.string().optional(), done: z.boolean().default(false) }),
    render: ctx =>
      el(Task, {
        id: 't',
        run: () => 1,
        onFinished: () => {
          ctx.state.set('done', true);
          finish(ctx as never);
        },
      }),
  });
}

function taskPlan(run: (task: TaskContext) => unknown, more: object = {}): AnyPlan {
  return definePlan({ name: 'artifacts', render: () => el(Task, { id: 't', run, ...more }) });
}

async function shown({ runs, run }: Harness) {
  return (await runs.artifacts(run)).map(({ kind, name, key, version, mimeType, alt, content, node }) => {
    return { kind, name, key, version, mimeType, alt, content, node };
  });
}

const start = (world: Harness, plan: AnyPlan) =>
  world.start(plan, { blobs: world.runs, files: memoryFiles({ 'dot.png': '' }) });

describe('artifacts of handlers and effects', () => {
  it('[P130] are of five kinds, each with its content, its node and its event, in the commit of what made them', async () => {
    const world = harness();
    const plan = handlerPlan(ctx => {
      ctx.state.set('id', ctx.artifact.markdown('Notes', '# Done'));
      ctx.artifact.table('Costs', ['what', 'usd'], [{ what: 'tokens', usd: 3 }]);
      ctx.artifact.progress('Build', 3, 5, { key: 'build', label: 'Step 3/5' });
      ctx.artifact.link('Docs', 'https://example.org/a', { label: 'the docs' });
      ctx.artifact.image('Dot', DOT, { alt: 'a dot' });
    });
    expect(await world.end(start(world, plan))).toMatchObject({ status: 'completed' });
    expect(await shown(world)).toEqual([
      { kind: 'markdown', name: 'Notes', mimeType: 'text/markdown', content: '# Done', node: 't' },
      {
        kind: 'table',
        name: 'Costs',
        mimeType: 'application/json',
        content: '{"columns":["what","usd"],"rows":[{"what":"tokens","usd":3}]}',
        node: 't',
      },
      {
        kind: 'progress',
        name: 'Build',
        key: 'build',
        version: 1,
        mimeType: 'application/json',
        content: '{"current":3,"total":5,"label":"Step 3/5"}',
        node: 't',
      },
      {
        kind: 'link',
        name: 'Docs',
        mimeType: 'application/json',
        content: '{"url":"https://example.org/a","label":"the docs"}',
        node: 't',
      },
      { kind: 'image', name: 'Dot', mimeType: 'image/png', alt: 'a dot', node: 't' },
    ]);
    const [first] = await world.runs.artifacts(world.run);
    expect(await world.state()).toEqual({ done: true, id: first?.id });
    const events = await world.events();
    expect(events.filter(type => type === 'artifact.created')).toHaveLength(5);
    expect(events.indexOf('artifact.created')).toBeGreaterThan(events.indexOf('task.ended'));
    const [picture] = (await world.runs.artifacts(world.run)).filter(({ kind }) => kind === 'image');
    expect(await world.runs.get(picture?.digest as never)).toMatchObject({ ok: true });
  });

  it('[P131] of a failed handler are not stored, and neither is their event', async () => {
    const world = harness();
    const plan = handlerPlan(ctx => {
      ctx.artifact.markdown('Notes', 'never seen');
      throw new Error('no');
    });
    expect(await world.end(start(world, plan))).toMatchObject({ status: 'failed' });
    expect([await shown(world), (await world.events()).includes('artifact.created')]).toEqual([[], false]);
  });

  it('[P132] cannot be made by a render', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'renders',
      render: ctx => {
        ctx.artifact.markdown('Notes', 'no');
        return null;
      },
    });
    expect(await world.end(start(world, plan))).toMatchObject({
      status: 'failed',
      error: { code: 'plan/render-write', message: expect.stringContaining('ctx.artifact.markdown') },
    });
  });

  it.each([
    [
      'no picture',
      (ctx: Context) => ctx.artifact.image('x', 'data:image/png;base64,AAAA'),
      'no picture of a known kind',
    ],
    ['a path that leads out', (ctx: Context) => ctx.artifact.image('x', '../up.png'), 'leaves the root'],
    ['too much', (ctx: Context) => ctx.artifact.markdown('x', 'x'.repeat(1_048_577)), 'at most 1048576 are kept'],
    ['code as a link', (ctx: Context) => ctx.artifact.link('x', 'javascript:alert(1)'), 'http, https, mailto'],
    ['more than all', (ctx: Context) => ctx.artifact.progress('x', 6, 5), 'from 0 to a total'],
    ['no name', (ctx: Context) => ctx.artifact.markdown('', 'x'), 'name must be'],
  ])('[P132] are refused with the reason: %s', async (_, make, reason) => {
    const world = harness();
    expect(
      await world.end(
        start(
          world,
          handlerPlan(ctx => void make(ctx)),
        ),
      ),
    ).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining(reason) },
    });
    expect(await shown(world)).toEqual([]);
  });

  it('[P133] that are large are blobs before a commit refers to them', async () => {
    const world = harness();
    const large = 'ä'.repeat(40_000);
    const kept = new Set<string>();
    const runs: MemoryRuns = world.runs;
    const commit: Commit = {
      async commit(writes, guard) {
        for (const { content, digest } of writes.artifacts ?? []) {
          expect([content, kept.has(digest)]).toEqual([undefined, true]);
        }
        return runs.commit(writes, guard);
      },
    };
    const blobs = {
      async put(contents: readonly Uint8Array[]) {
        const names = await runs.put(contents);
        if (names.ok) for (const name of names.value) kept.add(name);
        return names;
      },
    };
    const plan = handlerPlan(ctx => void ctx.artifact.markdown('Large', large));
    expect(await world.end(world.start(plan, { commit, blobs }))).toMatchObject({ status: 'completed' });
    const [artifact] = await runs.artifacts(world.run);
    expect(artifact).toMatchObject({ bytes: 80_000 });
    const content = await runs.get(artifact?.digest as never);
    expect(content.ok && Buffer.from(content.value).toString()).toBe(large);
  });

  it('[P133] whose contents cannot be stored end the engine, and nothing refers to them', async () => {
    const world = harness();
    const full = failure('STORE_IO_FAILED', { message: 'The disk is full.', suggestion: 'Make room.' });
    const plan = handlerPlan(ctx => void ctx.artifact.image('Dot', DOT));
    expect(await world.end(world.start(plan, { blobs: { put: async () => err(full) } }))).toEqual({
      status: 'lost',
      error: full,
    });
    expect(await shown(world)).toEqual([]);
  });
});

describe('artifacts of tasks', () => {
  it('[P134] are durable when they resolve, and all of them before the task ends', async () => {
    const world = harness();
    const seen: number[] = [];
    const plan = taskPlan(async ({ artifact }) => {
      await artifact.progress('Build', 1, 2, { key: 'build' });
      seen.push((await shown(world)).length);
      void artifact.progress('Build', 2, 2, { key: 'build' });
      void artifact.markdown('Notes', 'not waited for');
      return 1;
    });
    expect(await world.end(start(world, plan))).toMatchObject({ status: 'completed' });
    expect(seen).toEqual([1]);
    expect((await shown(world)).map(({ name, version }) => [name, version])).toEqual([
      ['Build', 1],
      ['Build', 2],
      ['Notes', undefined],
    ]);
    const [artifact] = await world.runs.artifacts(world.run);
    const [task] = await world.runs.tasks(world.run);
    expect([artifact?.task, artifact?.node]).toEqual([task?.id, 't']);
    const events = await world.events();
    expect(events.lastIndexOf('artifact.created')).toBeLessThan(events.indexOf('task.ended'));
  });

  it('[P134] made again by another attempt are stored once; different ones are stored too', async () => {
    const world = harness();
    const ids: ArtifactId[] = [];
    const plan = taskPlan(async ({ artifact, attempt }) => {
      ids.push(await artifact.markdown('Same', 'same'), await artifact.markdown('Same', 'same'));
      await artifact.markdown('Try', `attempt ${attempt}`);
      if (attempt === 1) throw Object.assign(new Error('for a while'), { code: 'ECONNRESET' });
      return 1;
    });
    expect(await world.end(start(world, plan))).toMatchObject({ status: 'completed' });
    expect((await shown(world)).map(({ content }) => content)).toEqual(['same', 'same', 'attempt 1', 'attempt 2']);
    expect(ids.slice(2)).toEqual(ids.slice(0, 2));
  });

  it('[P134] that cannot be stored fail the attempt, whether it waits for them or not', async () => {
    const world = harness();
    const plan = taskPlan(({ artifact }) => void artifact.link('x', 'file:///etc/passwd'), { retries: 0 });
    expect(await world.end(start(world, plan))).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('http, https, mailto') },
    });
  });
});

describe('artifacts and crashes', () => {
  const plan = definePlan({
    name: 'crashes',
    state: z.object({ n: z.number().default(0) }),
    render: ctx =>
      el(
        Fragment,
        {},
        el(Effect, {
          id: 'held',
          deps: [],
          run: () => {
            ctx.artifact.markdown('Held', 'set up');
            return () => {};
          },
        }),
        el(Task, {
          id: 'a',
          run: async ({ artifact }: TaskContext) => {
            await artifact.progress('Build', 1, 2, { key: 'build' });
            await artifact.progress('Build', 2, 2, { key: 'build' });
          },
          onFinished: () => {
            ctx.state.set('n', 1);
            ctx.artifact.markdown('Finished', 'a');
          },
        }),
        el(Task, { id: 'b', run: () => 1, onFinished: () => ctx.artifact.markdown('Finished', 'b') }),
      ),
  });

  /** Each commit is the last of its process, before or after it is durable, until the run gets through. */
  async function crashing(at: number, isDurable: boolean): Promise<readonly string[]> {
    const world = harness();
    let commits = 0;
    let isDead = false;
    const commit: Commit = {
      async commit(writes, guard) {
        const lost = err(failure('store/outcome-unknown', { message: 'killed', suggestion: 'Start again.' }));
        if (isDead) return lost;
        commits += 1;
        if (commits !== at) return world.runs.commit(writes, guard);
        isDead = true;
        if (isDurable) await world.runs.commit(writes, guard);
        return lost;
      },
    };
    await world.end(world.start(plan, { commit, blobs: world.runs }));
    isDead = false;
    const isThere = (await world.runs.run(world.run)) !== undefined;
    const again = isThere ? world.resume(plan, { blobs: world.runs }) : world.start(plan, { blobs: world.runs });
    expect(await world.end(again)).toMatchObject({ status: 'completed' });
    return (await shown(world)).map(({ name, content, version }) => `${name} ${version} ${content}`).sort();
  }

  it('[P135] a run that dies before or after any commit has every artifact once', async () => {
    const whole = await crashing(1_000, false);
    expect(whole).toEqual([
      'Build 1 {"current":1,"total":2}',
      'Build 2 {"current":2,"total":2}',
      'Finished undefined a',
      'Finished undefined b',
      'Held undefined set up',
    ]);
    for (let at = 1; at <= 8; at++) {
      for (const isDurable of [false, true])
        expect([at, isDurable, await crashing(at, isDurable)]).toEqual([at, isDurable, whole]);
    }
  });
});
