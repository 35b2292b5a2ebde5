import type { Json } from '@signalbox/model';
import type { Commit } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { PlanRunOptions, RunEnd } from '../src/frames/engine-options.ts';
import { Agent, Effect, Human, Phase, Step, SubPlan, Task, Timer, While } from '../src/nodes/components.ts';
import { type AnyPlan, definePlan } from '../src/plan-definition.ts';
import { el } from './elements.ts';
import { harness } from './harness.ts';
import { type LateCommits, lateCommits, lateEnd } from './late-commits.ts';
import { memoryFiles } from './memory-files.ts';

const AT_ONCE = { patientFrames: 0 };
const noBlobs: NonNullable<PlanRunOptions['blobs']> = { put: async () => ({ ok: true, value: undefined }) as never };

/** Steps, one after the other, that write state; `between` are elements among them, by position. */
function stepsPlan(steps: number, between: (ctx: Context) => Readonly<Record<number, unknown>> = () => ({})): AnyPlan {
  return definePlan({
    name: 'steps',
    state: z.object({ n: z.number().default(0), seen: z.array(z.number()).default([]) }),
    render: ctx => {
      const others = between(ctx as unknown as Context);
      const items = Array.from({ length: steps }, (_, at) =>
        el(
          Step,
          { key: String(at) },
          others[at] ??
            el(Task, {
              effects: 'none',
              id: `n${at}`,
              run: () => at,
              onFinished: () => ctx.state.update('n', n => n + 1),
            }),
        ),
      );
      return el(Phase, { name: 'all' }, items);
    },
  });
}

/** What plans of this file use of their context. */
interface Context {
  readonly state: { get(key: 'n'): number; update(key: 'n', reduce: (n: number) => number): void };
  readonly fs: { write(path: string, text: string): void };
  readonly db: { query(sql: string, options: object): readonly { readonly n: number }[] };
  readonly artifact: { markdown(name: string, text: string): string };
}

/** Runs a plan to its end, on commits that are answered late. */
async function played(plan: AnyPlan, options: Partial<PlanRunOptions> = {}, lateOf = lateCommits) {
  const world = harness();
  const late = lateOf(world.runs);
  const run = world.start(plan, { commit: late, ...options });
  const end = await lateEnd(world, run, late);
  const records = await world.runs.records(world.run, 0, 10_000);
  return { world, late, end, records };
}

describe('a run with short tasks', () => {
  it('[P310] continues while commits are on their way, at most 16, and its records are the same', async () => {
    const loop = (ctx: Context) => ({
      20: el(
        While,
        { condition: () => ctx.state.get('n') < 25, maxIterations: 9 },
        el(Task, {
          effects: 'none',
          id: 'again',
          run: ({ iteration }: { iteration: number }) => iteration,
          onFinished: () => ctx.state.update('n', n => n + 1),
        }),
      ),
      30: el(Task, {
        effects: 'none',
        id: 'fails',
        retries: 2,
        run({ attempt }: { attempt: number }) {
          if (attempt < 3) throw Object.assign(new Error(`attempt ${attempt}`), { code: 'ECONNRESET' });
          return attempt;
        },
      }),
    });
    const plan = stepsPlan(60, loop);
    const patient = await played(plan);
    const ahead = await played(plan, { commitsAhead: AT_ONCE });
    expect([patient.late.most, ahead.late.most]).toEqual([1, 16]);
    expect(ahead.end).toEqual(patient.end);
    expect(ahead.end).toEqual({ status: 'completed', output: { n: 63, seen: [] } });
    expect(ahead.records).toEqual(patient.records);
  });

  it('[P314] waits for the commits of its first 32 frames, also when it is resumed', async () => {
    const world = harness();
    const late = lateCommits(world.runs);
    const plan = stepsPlan(200);
    const most: number[] = [];
    const noted: Commit = {
      commit(writes, guard) {
        const committed = late.commit(writes, guard);
        most[writes.frame?.index ?? -1] = late.waiting;
        return committed;
      },
    };
    const run = world.start(plan, { commit: noted, commitsAhead: {} });
    await until(() => late.frames > 60);
    const paused = run.pause('ada');
    expect(await lateEnd(world, run, late)).toEqual({ status: 'paused' });
    expect(await paused).toBe('done');
    const again = (await world.runs.run(world.run))?.frames ?? 0;
    expect(most.slice(0, 32)).toEqual(Array.from({ length: 32 }, () => 1));
    expect(Math.max(...most.slice(32, again))).toBe(16);
    expect(await lateEnd(world, world.resume(plan, { commit: noted, commitsAhead: {} }), late)).toMatchObject({
      status: 'completed',
    });
    expect(most.slice(again, again + 32)).toEqual(Array.from({ length: 32 }, () => 1));
    expect(Math.max(...most.slice(again + 32))).toBe(16);
  });

  it('[P310] waits for each commit if a limit may stop it, if it is traced, and if it has a workspace', async () => {
    const plan = stepsPlan(20);
    const limited = harness();
    const create = {
      name: 'steps',
      tags: [],
      mode: 'AUTO',
      globalMode: 'IMPLEMENTATION',
      input: null,
      limits: { maxTotalTokens: 5 },
      seed: 7,
    } as const;
    const late = lateCommits(limited.runs);
    await lateEnd(limited, limited.start(plan, { commit: late, commitsAhead: AT_ONCE, create }), late);
    const traced = await played(plan, { commitsAhead: AT_ONCE, trace: () => {} });
    const placed = await played(plan, { commitsAhead: AT_ONCE, workspace: {} as never });
    expect([late.most, traced.late.most, placed.late.most]).toEqual([1, 1, 1]);
  });
});

describe('work that may not run twice', () => {
  const child = definePlan({ name: 'child', render: () => el(Task, { effects: 'none', id: 'inner', run: () => 1 }) });
  const kinds: Readonly<Record<string, (run: () => Json) => unknown>> = {
    'a task that declares nothing': run => el(Task, { id: 'it', run }),
    'a task with effects outside': run => el(Task, { id: 'it', effects: 'external', run }),
    'a task that can be undone': run => el(Task, { id: 'it', effects: 'undoable', run }),
    'an agent': () => el(Agent, { id: 'it', model: 'some', prompt: 'Go' }),
    'a person': () => el(Human, { id: 'it', prompt: 'Go?' }),
    'a sub-plan': () => el(SubPlan, { id: 'it', plan: child }),
    'a timer': () => el(Timer, { id: 'it', forMs: 1000 }),
  };
  for (const [name, make] of Object.entries(kinds)) {
    it(`[P311] starts when everything so far is durable, and so does what follows its end: ${name}`, async () => {
      let late: LateCommits | undefined;
      const [begunWith, otherBegunWith, sentWith]: [number[], number[], number[]] = [[], [], []];
      const begun = () => {
        begunWith.push(late?.waiting ?? -1);
        return 1;
      };
      const it = make(begun);
      const other = el(Task, { effects: 'none', id: 'other', run: () => otherBegunWith.push(late?.waiting ?? -1) });
      const { end, late: used } = await played(
        stepsPlan(40, () => ({ 19: other, 20: it })),
        {
          commitsAhead: AT_ONCE,
          executor: { execute: async () => ({ kind: 'done', output: begun() }) },
          onRun: () => void begun(),
        },
        to => {
          const its = lateCommits(to);
          late = its;
          let isLast = false;
          const commit: Commit['commit'] = (writes, guard) => {
            // The commit after one that starts or ends it.
            if (isLast) sentWith.push(its.waiting);
            isLast = writes.tasks?.some(task => task.node === 'it') === true;
            return its.commit(writes, guard);
          };
          return Object.assign(Object.create(its) as LateCommits, { commit });
        },
      );
      expect(end).toMatchObject({ status: 'completed' });
      expect(used.most).toBe(16);
      // The one before it starts while commits are on their way, and it does not.
      expect(otherBegunWith[0]).toBeGreaterThan(0);
      expect(begunWith).toEqual(name === 'a timer' ? [] : [0]);
      expect(sentWith.length).toBeGreaterThanOrEqual(2);
      expect(Math.max(...sentWith)).toBe(0);
    });
  }
});

describe('what others can see', () => {
  /** Plays a plan whose code calls `note` where it acts, and returns how many commits were on their way then. */
  async function noted(
    between: (ctx: Context, note: () => void) => Readonly<Record<number, unknown>>,
    more: (late: () => LateCommits, note: () => void) => Partial<PlanRunOptions> = () => ({}),
  ) {
    let late: LateCommits | undefined;
    const its = () => late as LateCommits;
    const found: number[] = [];
    const note = () => void found.push(its().waiting);
    const { end, late: used } = await played(
      stepsPlan(40, ctx => between(ctx, note)),
      { commitsAhead: AT_ONCE, blobs: noBlobs, ...more(its, note) },
      to => {
        late = lateCommits(to);
        return late;
      },
    );
    expect(end).toMatchObject({ status: 'completed' });
    expect(used.most).toBe(16);
    return found;
  }

  it('[P312] an effect runs when everything so far is durable', async () => {
    const found = await noted((_, note) => ({ 20: el(Effect, { id: 'effect', deps: [], run: note }) }));
    expect(found).toEqual([0]);
  });

  it('[P312] so does a query, and it sees all of it', async () => {
    const asked: number[] = [];
    const found = await noted(
      (ctx, note) => ({
        20: el(Task, {
          effects: 'none',
          id: 'asks',
          run: () => 1,
          onFinished() {
            asked.push(...ctx.db.query('select n', { invalidateOn: ['tasks'] }).map(({ n }) => n));
            note();
          },
        }),
      }),
      late => ({
        query(sql) {
          if (sql.startsWith('select frames')) late().storeNext();
          return [{ n: late().frames, frames: late().frames }];
        },
      }),
    );
    // The answers have not arrived yet; the commits are stored.
    expect(found[0]).toBeGreaterThan(0);
    expect(asked).toEqual([21]);
  });

  for (const who of ['handler', 'task'] as const) {
    it(`[P312] so are files written, by a ${who}`, async () => {
      const files = memoryFiles();
      const stored: (readonly [stored: number, frame: number])[] = [];
      let current: LateCommits | undefined;
      const write: typeof files.write = (path, content) => {
        stored.push([current?.frames ?? -1, 21]);
        files.write(path, content);
      };
      await noted(
        ctx => ({
          20:
            who === 'handler'
              ? el(Task, { effects: 'none', id: 'w', run: () => 1, onFinished: () => ctx.fs.write('a.txt', 'a') })
              : el(Task, { effects: 'none', id: 'w', run: ({ fs }: { fs: Context['fs'] }) => fs.write('a.txt', 'a') }),
        }),
        late => ({
          files: { ...files, write },
          query(sql) {
            current = late();
            if (sql.startsWith('select frames')) late().storeNext();
            return [{ frames: late().frames }];
          },
          onFrame() {
            current = late();
            return () => {};
          },
        }),
      );
      expect(stored).toEqual([[21, 21]]);
      expect(files.text('a.txt')).toBe('a');
    });
  }

  it('[P312] so is an artifact of a task stored', async () => {
    let frames: number | undefined;
    const world = harness();
    const late = lateCommits(world.runs);
    const commit: Commit = {
      commit(writes, guard) {
        if (writes.artifacts !== undefined) frames = late.waiting;
        return late.commit(writes, guard);
      },
    };
    const made = el(Task, {
      effects: 'none',
      id: 'made',
      run: ({ artifact }: { artifact: { markdown(name: string, text: string): Promise<string> } }) =>
        artifact.markdown('Report', 'text'),
    });
    const run = world.start(
      stepsPlan(40, () => ({ 20: made })),
      { commit, commitsAhead: AT_ONCE, blobs: noBlobs },
    );
    expect(await lateEnd(world, run, late)).toMatchObject({ status: 'completed' });
    expect([frames, late.most]).toEqual([0, 16]);
  });

  it('[P312] a command is answered, and the run ends, when everything so far is durable', async () => {
    const world = harness();
    const late = lateCommits(world.runs);
    const run = world.start(stepsPlan(100), { commit: late, commitsAhead: AT_ONCE });
    await until(() => late.frames > 20);
    const stopped = run.stop('enough', 'ada').then(answer => [answer, late.waiting]);
    expect(await lateEnd(world, run, late)).toEqual({ status: 'stopped', reason: 'enough' });
    expect(await stopped).toEqual(['done', 0]);
    expect([late.waiting, late.most]).toEqual([0, 16]);
    const { end, late: whole } = await played(stepsPlan(40), { commitsAhead: AT_ONCE });
    expect([end.status, whole.waiting]).toEqual(['completed', 0]);
  });
});

it('[P312] signals that arrive meanwhile are read once everything so far is durable, each once', async () => {
  const world = harness();
  const late = lateCommits(world.runs);
  const plan = definePlan({
    name: 'listening',
    state: z.object({ heard: z.array(z.number()).default([]), n: z.number().default(0) }),
    signals: {
      add: { schema: z.number(), handle: (n, ctx) => ctx.state.update('heard', heard => [...heard, n]) },
    },
    render: ctx =>
      el(
        While,
        { condition: () => ctx.state.get('heard').length < 5, maxIterations: 2_000 },
        el(Task, { effects: 'none', id: 'work', run: () => 1, onFinished: () => ctx.state.update('n', n => n + 1) }),
      ),
  });
  const readWith: number[] = [];
  const reader: PlanRunOptions['reader'] = {
    ...world.runs,
    events(...args) {
      readWith.push(late.waiting);
      return world.runs.events(...args);
    },
  };
  const run = world.start(plan, { commit: late, reader, commitsAhead: AT_ONCE });
  for (let n = 0; n < 5; n++) {
    await until(() => late.frames > 20 * (n + 1));
    const id = `00000000-0000-4000-8000-00000000000${n}`;
    const event = { id, ts: world.now(), type: 'signal.received', name: 'add', payload: n, by: 'ada' };
    const sent = await world.runs.commit(
      { at: world.now(), events: [event as never] },
      { run: world.run, version: 'any' },
    );
    expect(sent.ok).toBe(true);
  }
  expect(await lateEnd(world, run, late)).toMatchObject({ status: 'completed', output: { heard: [0, 1, 2, 3, 4] } });
  expect(late.most).toBe(16);
  expect(readWith.length).toBeGreaterThan(0);
  expect(Math.max(...readWith)).toBe(0);
});

describe('a commit that fails', () => {
  it('[P313] ends the engine, and nothing after it is stored', async () => {
    const begun: number[] = [];
    const result = await failing(25, begun);
    expect(result.end).toEqual({ status: 'lost', error: result.error });
    expect(result.frames).toBe(25);
    // It was ahead by what was on its way then, and no further.
    expect(Math.max(...begun)).toBeLessThanOrEqual(25 + 16);
    expect(Math.max(...begun)).toBeGreaterThan(25);
  });

  it('[P313] ends an engine that waits for long work, too', async () => {
    const result = await failing(21, [], el(Task, { effects: 'none', id: 'long', run: () => new Promise(() => {}) }));
    expect(result.end).toEqual({ status: 'lost', error: result.error });
  });

  /** Frame `at` is refused. */
  async function failing(at: number, begun: number[], last: unknown = undefined) {
    const world = harness();
    const error = {
      code: 'store/outcome-unknown',
      message: 'The disk failed.',
      retry: { kind: 'not_retryable' },
      suggestion: 'Resume the run.',
    } as const;
    const late = lateCommits({
      async commit(writes, guard) {
        return writes.frame?.index === at ? { ok: false, error } : world.runs.commit(writes, guard);
      },
    });
    const noting = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [
        n,
        el(Task, { effects: 'none', id: `n${n}`, run: () => void begun.push(n) }),
      ]),
    );
    const plan = stepsPlan(60, () => ({ ...noting, ...(last === undefined ? {} : { 21: last }) }));
    const end: RunEnd = await lateEnd(world, world.start(plan, { commit: late, commitsAhead: AT_ONCE }), late);
    await until(() => late.waiting === 0);
    return { end, error, frames: (await world.runs.run(world.run))?.frames };
  }
});

async function until(isSo: () => boolean): Promise<void> {
  for (let turns = 0; !isSo(); turns++) {
    if (turns > 10_000) throw new Error('it does not come to that');
    await new Promise(resolve => setImmediate(resolve));
  }
}
