import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RunId } from '@signalbox/model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bystander, tell } from './support/bystander.ts';
import { deeds, type HostilePlan, patches, refusedDeeds, removals, workings } from './support/hostile-plans.ts';
import { openTestHost, type TestHost } from './support/open-host.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

const SOAK = process.env.SIGNALBOX_SOAK === '1';
const ROUNDS = SOAK ? 20 : 1;
const BYSTANDERS = 3;
/** Nothing here depends on how long a bystander is silent: a busy machine is no reason to lose one. */
const threads = {
  threads: 1,
  beatMs: 50,
  sharedSilenceMs: Number.MAX_SAFE_INTEGER,
  aloneSilenceMs: Number.MAX_SAFE_INTEGER,
  loadSilenceMs: Number.MAX_SAFE_INTEGER,
  memoryMb: SOAK ? 1024 : 128,
};

const folder = temporaryFolder();
const begunAt = Date.now();
let test: TestHost;

beforeAll(async () => {
  test = await openTestHost(folder, { threads });
});
afterAll(async () => {
  await test.close();
});

/** Three runs of other plans, which live as long as a round. */
async function openBystanders(round: number) {
  const told = path.join(folder, `round-${round}`);
  mkdirSync(told);
  const runs: RunId[] = [];
  for (let n = 0; n < BYSTANDERS; n++) runs.push(await test.start(`by-${round}-${n}`, bystander(told, String(n))));
  let steps = 0;
  return {
    /** All of them take one step more, each with its handler and its commits. */
    async step(): Promise<void> {
      tell(told, `step-${steps}`);
      steps += 1;
      for (const run of runs) {
        const n = await until(async () => {
          const [state, record] = [(await test.state(run)).n, await test.store.run(run)];
          return state === steps || record?.status !== 'running' ? { state, status: record?.status } : undefined;
        });
        expect(n).toEqual({ state: steps, status: 'running' });
      }
    },
    /** They end as if nothing had happened. */
    async end(): Promise<void> {
      tell(told, 'end');
      for (const run of runs) {
        await test.host.finished(run);
        expect(await test.store.run(run)).toMatchObject({ status: 'completed' });
        const tasks = await test.store.tasks(run);
        expect(tasks.length).toBe(steps + 1);
        expect(tasks.map(({ status, retryCount }) => [status, retryCount])).toEqual(tasks.map(() => ['done', 0]));
        const events = await eventsOf(run);
        expect(events.filter(({ event }) => event.type === 'run.resumed')).toEqual([]);
        const times = events.map(({ event }) => Date.parse(event.ts));
        expect(times).toEqual(times.toSorted((a, b) => a - b));
        expect(times[0]).toBeGreaterThanOrEqual(begunAt);
        expect(times.at(-1)).toBeLessThanOrEqual(Date.now());
      }
    },
  };
}

const eventsOf = (run: RunId) => test.store.events(run, 0, Number.MAX_SAFE_INTEGER);

/** Runs it to its end, and says how that was. */
async function suffer(plan: HostilePlan, file: string): Promise<void> {
  const marked = `${file}.begun`;
  rmSync(path.join(folder, marked), { force: true });
  const mark = `writeFileSync(${JSON.stringify(path.join(folder, marked))}, '');`;
  writeFileSync(path.join(folder, `${file}.tsx`), plan.text(mark));
  const started = await test.host.start({ file: path.join(folder, `${file}.tsx`), input: {} });
  if (!started.ok) return expect(plan.end).toBe('terminated');
  const run = started.value;
  // A plan that ends before it comes to its deed is a mistake in this test.
  const over = test.host.finished(run)?.then(() => 'over' as const);
  const begun = until(() => existsSync(path.join(folder, marked)) || undefined);
  await Promise.race([begun, over]);
  expect(existsSync(path.join(folder, marked))).toBe(true);
  // It may go on working: what runs when a run is paused may finish.
  if (plan.end === 'paused') expect(await test.host.act(run, { kind: 'pause' }, 'ada')).toEqual({ ok: true });
  if (plan.end === 'terminated' || plan.end === 'paused')
    await test.host.act(run, { kind: 'terminate', reason: 'enough' }, 'ada');
  await test.host.finished(run);
  const record = await test.store.run(run);
  expect(['stopped', 'failed', 'completed']).toContain(record?.status);
  if (plan.end === 'lost') expect(record).toMatchObject({ status: 'failed', error: { code: 'thread-lost' } });
  if (plan.end === 'refused') expect(record?.error?.message).toMatch(/caught (\d+) of \1\b/);
  for (const { event } of await eventsOf(run)) expect(Date.parse(event.ts)).toBeGreaterThanOrEqual(begunAt);
}

describe.each(Array.from({ length: ROUNDS }, (_, round) => round))('round %i', round => {
  const cases = [
    ...patches(SOAK),
    ...removals(SOAK),
    ...workings(SOAK && round === 0),
    ...deeds,
    ...refusedDeeds(SOAK),
  ].map((plan, at) => [plan.name, at, plan] as const);
  let bystanders: Awaited<ReturnType<typeof openBystanders>>;
  beforeAll(async () => {
    bystanders = await openBystanders(round);
    await bystanders.step();
  });
  it.each(cases)(
    '[A279] [A280] [A281] [A345] [A501] a plan that %s hurts no run of another plan',
    async (_, at, plan) => {
      await suffer(plan, `hostile-${at}-${plan.name.replaceAll(/\W/g, '-')}`);
      await bystanders.step();
    },
  );
  it('[A278] [A279] leaves the bystanders as if nothing had happened, at the right times', () => bystanders.end());
});

describe('a plan that opens files', () => {
  it('[A345] uses and closes the descriptors that it opened, by every way that Node has', async () => {
    const file = JSON.stringify(path.join(folder, 'opened.txt'));
    const deed = `const fs = (await import('node:fs')).default; const { promisify } = await import('node:util');
      const { pipeline } = await import('node:stream/promises');
      const one = fs.openSync(${file}, 'w'); fs.writeSync(one, 'one '); fs.fsyncSync(one); fs.closeSync(one);
      const two = await promisify(fs.open)(${file}, 'a'); await promisify(fs.write)(two, 'two '); await promisify(fs.close)(two);
      const three = await fs.promises.open(${file}, 'a'); fs.writeSync(three.fd, 'three '); await three.close();
      await pipeline(['four'], fs.createWriteStream(${file}, { flags: 'a' }));
      let text = ''; for await (const chunk of fs.createReadStream(${file})) text += chunk;
      fs.writeSync(2, '');
      throw new Error(text + fs.readFileSync(${file}).length);`;
    const text = `import { definePlan, Task } from 'signalbox';
export default definePlan({ name: 'opens', render: () => <Task id="a" retries={0} run={async () => { ${deed} }} /> });
`;
    const run = await test.start('opens', text);
    await test.host.finished(run);
    expect((await test.store.run(run))?.error?.message).toContain('one two three four18');
  });
});

describe('a plan that fills buffers', () => {
  it('[A281] is told that this is why', async () => {
    const text = deeds.find(({ name }) => name === 'fills buffers')?.text('') ?? '';
    const run = await test.start('fills', text);
    await test.host.finished(run);
    expect(await test.store.run(run)).toMatchObject({
      error: { message: expect.stringMatching(/buffers took \d+ MB of memory, and \d+ MB is the limit/) },
    });
  });
});
