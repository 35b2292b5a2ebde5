import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { snapshotOf } from '@signalbox/app/all-runs';
import type { RunId, RunStatus } from '@signalbox/model';
import { afterEach, describe, expect, it } from 'vitest';
import { sampled } from '../../../test/sized.ts';
import { openTestHost, type TestHost } from '../../app/test/support/open-host.ts';
import { until } from '../../app/test/support/until.ts';
import { temporaryFolder } from '../../app/test/temporary-folder.ts';

/** A run on its way to its end. */
interface Scene {
  readonly test: TestHost;
  readonly folder: string;
  readonly run: RunId;
  /** Resolves when a node of the run has this status. */
  until(node: string, status: string): Promise<void>;
}

interface Way {
  readonly plan: string;
  readonly limits?: Readonly<Record<string, number>>;
  /** Acts on the run once it has started. */
  readonly act?: (scene: Scene) => Promise<unknown>;
}

/** Work that goes on until it is told to end. */
const LONG = `({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('told to end'))))`;
const plan = (body: string, before = '') => `
import { definePlan, Effect, End, Human, Parallel, Phase, Step, Stop, SubPlan, Task, While } from 'signalbox';
import { existsSync } from 'node:fs';
import * as z from 'zod';
const long = ${LONG};
const flagged = () => new Promise(done => {
  const look = () => (existsSync(new URL('flag', import.meta.url)) ? done(1) : setTimeout(look, 5));
  look();
});
${before}
export default definePlan({
  name: 'ends',
  state: z.object({ n: z.number().default(0) }),
  render: ctx => { const n = ctx.state.get('n'); return (<>${body}</>); },
});
`;
const FIRST = `<Phase name="first"><Task id="first" run={() => 1} onFinished={() => ctx.state.set('n', 1)} /></Phase>`;
const inner = (body: string) =>
  `const inner = definePlan({ name: 'inner', state: z.object({ n: z.number().default(0) }), render: ctx => { const n = ctx.state.get('n'); return (<>${body}</>); } });`;
const THROWS = `{n === 1 ? (() => { throw new Error('a bug'); })() : null}`;

const started =
  (node: string, act: (scene: Scene) => Promise<unknown>): NonNullable<Way['act']> =>
  async scene => {
    await scene.until(node, 'running');
    await act(scene);
  };

/** Every status that a run can rest in, and ways to come there. Another status does not compile before it has one. */
const ways: Record<Exclude<RunStatus, 'queued' | 'running'>, Readonly<Record<string, Way>>> = {
  completed: {
    'everything is done': { plan: plan(FIRST) },
    'an End leaves work undone': {
      plan: plan(
        `${FIRST}<Phase name="end"><End /></Phase><Phase name="never"><Task id="never" run={() => 1} /></Phase>`,
      ),
    },
  },
  failed: {
    'a render throws after a task ended': { plan: plan(`${FIRST}<Phase name="next">${THROWS}</Phase>`) },
    'a render throws while other work goes on': { plan: plan(`${FIRST}<Task id="long" run={long} />${THROWS}`) },
    'a render throws while a sub-plan works': {
      plan: plan(`${FIRST}<SubPlan id="sub" plan={inner} />${THROWS}`, inner('<Task id="long" run={long} />')),
    },
    'the first render throws': { plan: plan(`{(() => { throw new Error('at once'); })()}`) },
    'a loop turns and its body throws': {
      plan: plan(
        `<While id="loop" condition={() => n < 3} maxIterations={9}>{n === 1 ? (() => { throw new Error('a bug'); })() : <Task id="body" run={() => 1} onFinished={() => ctx.state.set('n', 1)} />}</While>`,
      ),
    },
    'a handler throws': {
      plan: plan(
        `<Task id="first" run={() => 1} onFinished={() => { throw new Error('a bug'); }} /><Task id="long" run={() => 2} />`,
      ),
    },
    'a handler writes what does not fit': {
      plan: plan(`<Task id="first" run={() => 1} onFinished={() => ctx.state.set('n', 'one' as never)} />`),
    },
    'a task throws': {
      plan: plan(`<Phase name="a"><Task id="first" retries={0} run={() => { throw new Error('no'); }} /></Phase>`),
    },
    'a sub-plan throws': {
      plan: plan(`<SubPlan id="sub" plan={inner} />`, inner(`${FIRST}${THROWS}`)),
    },
    'an effect throws while work goes on': {
      plan: plan(
        `<Task id="long" run={long} /><Effect id="effect" deps={[n]} run={() => { throw new Error('a bug'); }} />`,
      ),
    },
    'its thread ends': {
      plan: plan(`${FIRST}<Phase name="next"><Task id="exits" run={() => process.exit(3)} /></Phase>`),
    },
    'its thread ends with that of a sub-plan': {
      plan: plan(`<SubPlan id="sub" plan={inner} />`, inner(`${FIRST}<Task id="exits" run={() => process.exit(3)} />`)),
    },
    'it cannot be loaded again': {
      plan: plan(
        `${FIRST}<Phase name="next"><Human id="ask" prompt="?" /></Phase>`,
        `if (existsSync(new URL('flag', import.meta.url))) throw new Error('not now');`,
      ),
      async act({ test, run, folder }) {
        await test.end(run);
        await test.close();
        writeFileSync(path.join(folder, 'flag'), '');
        const again = await open(folder);
        await again.host.resume(run);
        await again.end(run);
      },
    },
  },
  stopped: {
    'a Stop is reached': {
      plan: plan(
        `${FIRST}<Phase name="stop"><Stop reason="enough" /></Phase><Phase name="never"><Task id="never" run={() => 1} /></Phase>`,
      ),
    },
    'somebody stops it': {
      plan: plan(`${FIRST}<Phase name="next"><Task id="long" run={long} /></Phase>`),
      act: started('long', ({ test, run }) => test.host.act(run, { kind: 'stop', reason: 'enough' }, 'ada')),
    },
    'somebody terminates it': {
      plan: plan(`${FIRST}<Phase name="next"><Task id="long" run={() => new Promise(() => {})} /></Phase>`),
      act: started('long', ({ test, run }) => test.host.act(run, { kind: 'terminate', reason: 'now' }, 'ada')),
    },
    'somebody terminates it with its sub-plan': {
      plan: plan(
        `<SubPlan id="sub" plan={inner} />`,
        inner(`${FIRST}<Task id="long" run={() => new Promise(() => {})} />`),
      ),
      act: started('sub', ({ test, run }) => test.host.act(run, { kind: 'terminate', reason: 'now' }, 'ada')),
    },
    'somebody stops it while it waits': {
      plan: plan(`${FIRST}<Phase name="next"><Human id="ask" prompt="?" /></Phase>`),
      async act({ test, run }) {
        await test.end(run);
        await test.host.act(run, { kind: 'stop', reason: 'enough' }, 'ada');
      },
    },
  },
  stalled: {
    'it renders the same again and again while work goes on': {
      plan: plan(
        `<Task id="long" run={work => { let v = 0; setInterval(() => ctx.state.set('n', (v = 1 - v)), 50); return long(work); }} />`,
      ),
    },
  },
  paused: {
    'somebody pauses it': {
      plan: plan(
        `${FIRST}<Phase name="next"><Task id="one" run={flagged} /></Phase><Phase name="last"><Task id="two" run={() => 2} /></Phase>`,
      ),
      act: started('one', async ({ test, run, folder }) => {
        await test.host.act(run, { kind: 'pause' }, 'ada');
        writeFileSync(path.join(folder, 'flag'), '');
      }),
    },
    'its process rests': {
      plan: plan(
        `${FIRST}<Phase name="next"><Task id="one" run={flagged} /></Phase><Phase name="last"><Task id="two" run={() => 2} /></Phase>`,
      ),
      act: started('one', async ({ test, run, folder }) => {
        const resting = test.host.rest(() => 'ada');
        const events = () => test.store.events(run, 0, 1000);
        await until(async () => (await events()).find(({ event }) => event.type === 'operator.acted'));
        writeFileSync(path.join(folder, 'flag'), '');
        await resting;
      }),
    },
    'it is a fork that nobody took up': {
      plan: plan(`${FIRST}<Phase name="next"><Task id="two" run={() => 2} /></Phase>`),
      async act({ test, run }) {
        await test.end(run);
        await test.host.fork(run, { at: { kind: 'frame', frame: 1 }, paused: true }, 'ada');
      },
    },
  },
  waiting: {
    'its time is over': {
      plan: plan(`${FIRST}<Phase name="next"><Task id="long" run={long} /></Phase>`),
      limits: { maxWallClockMs: 1000 },
    },
    'a person is asked': { plan: plan(`<Phase name="side">${FIRST}<Human id="ask" prompt="?" /></Phase>`) },
    'a sub-plan asks a person': {
      plan: plan(`${FIRST}<SubPlan id="sub" plan={inner} />`, inner(`${FIRST}<Human id="ask" prompt="?" />`)),
    },
  },
};

const opened: TestHost[] = [];
async function open(folder: string): Promise<TestHost> {
  const test = await openTestHost(folder);
  opened.push(test);
  return test;
}
afterEach(async () => {
  for (const test of opened.splice(0)) await test.close().catch(() => {});
});

/** Everything that a run, or one below it or forked from it, shows as running. */
async function running({ host, store }: TestHost, run: RunId): Promise<readonly string[]> {
  const record = await store.run(run);
  const state = await snapshotOf(host, run);
  const tasks = await store.tasks(run, { status: ['running', 'canceling'] });
  const found = [
    ...(state?.tree ?? []).filter(node => node.status === 'running').map(({ id }) => `node ${id}`),
    ...(state?.tasks ?? []).filter(task => task.status !== 'pending').map(({ id }) => `shown task ${id}`),
    ...Object.values(state?.nodes ?? {}).flatMap(node =>
      node.status === 'running' ? [`contract node ${node.label}`] : [],
    ),
    ...tasks.map(({ node }) => `task of ${node}`),
  ].map(what => `${what} of ${record?.status} run ${record?.name}`);
  for (const child of await store.children(run)) found.push(...(await running({ host, store } as TestHost, child.id)));
  return found;
}

describe.each(Object.entries(ways))('a run that is %s', (status, table) => {
  it.each(sampled(Object.entries(table), 4))(
    '[V150] shows nothing that runs: %s',
    async (_, { plan: text, limits, act }) => {
      const folder = temporaryFolder();
      const test = await open(folder);
      const run = await test.start('plan', text, limits === undefined ? {} : { limits });
      const seen = async (node: string, wanted: string) => {
        const record = await test.store.run(run);
        const row = await test.store.valueAt(run, 'status', node, record?.frames ?? 0);
        return (row as { readonly status?: string } | undefined)?.status === wanted || undefined;
      };
      await act?.({ test, folder, run, until: async (node, wanted) => void (await until(() => seen(node, wanted))) });
      const last = opened.at(-1) ?? test;
      await last.end(run);
      const ids = [
        run,
        ...(await last.store.children(run)).filter(({ origin }) => origin?.kind === 'fork').map(({ id }) => id),
      ];
      const record = await last.store.run(ids.at(-1) as RunId);
      expect({ status: record?.status, running: await running(last, run) }).toEqual({ status, running: [] });
    },
  );
});
