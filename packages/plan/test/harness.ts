import { createIdSource, type Json, portableHasher, type RunId, type Timestamp, timestampOf } from '@signalbox/model';
import { type Commit, type MemoryRuns, memoryRuns, type OwnerId, type RunReader } from '@signalbox/runs';
import { type FakeClock, type FakeTimers, fakeClock, fakeTimers, seededRng } from '@signalbox/testkit';
import type { PlanRun, PlanRunOptions, RunEnd } from '../src/frames/engine-options.ts';
import { runPlan } from '../src/frames/run-plan.ts';
import type { TaskExecutor } from '../src/frames/task-executor.ts';
import type { AnyPlan } from '../src/plan-definition.ts';
import { stillRunning } from './nothing-runs.ts';

/** A world for runs of plans: memory, a clock that stands still, and timers that go off when nothing else happens. */
export interface Harness {
  readonly run: RunId;
  readonly runs: MemoryRuns;
  readonly timers: FakeTimers;
  readonly clock: FakeClock;
  readonly ports: Pick<PlanRunOptions, 'commit' | 'reader' | 'clock' | 'ids'>;
  start(plan: AnyPlan, options?: Partial<PlanRunOptions> & { readonly input?: Json }): PlanRun;
  /** Takes the run up again, as another process would. */
  resume(plan: AnyPlan, options?: Partial<PlanRunOptions>): PlanRun;
  /** Lets everything happen, timers included, until the run has ended and shows nothing that runs. */
  end(run: PlanRun): Promise<RunEnd>;
  /** Lets happen what needs no timer. */
  calm(): Promise<void>;
  now(): Timestamp;
  events(): Promise<readonly string[]>;
  state(): Promise<Readonly<Record<string, Json>>>;
}

const noWork: TaskExecutor = {
  execute: async ({ node }) => ({
    kind: 'failed',
    error: { class: 'terminal', code: 'no-executor', message: node.id },
  }),
};

export function harness(ports: Partial<{ readonly runs: MemoryRuns; readonly seed: number }> = {}): Harness {
  const clock = fakeClock();
  const timers = fakeTimers(clock);
  const rng = seededRng(ports.seed ?? 1);
  const ids = createIdSource(clock, rng);
  const runs = ports.runs ?? memoryRuns(portableHasher);
  const run = ids.mint<RunId>();
  const base = {
    run,
    owner: 'test' as OwnerId,
    commit: runs as Commit,
    reader: runs as RunReader,
    executor: noWork,
    clock,
    timers,
    ids,
    rng,
  };
  const calm = async () => {
    for (let turns = 0; turns < 5; turns++) await new Promise(resolve => setImmediate(resolve));
  };
  /** Checked for every run: once it has ended, it shows nothing as running. */
  const settled = async (end: RunEnd): Promise<RunEnd> => {
    const running = end.status === 'lost' ? [] : await stillRunning(runs, run);
    if (running.length > 0) throw new Error(`the run ended ${end.status}, and still shows: ${running.join('; ')}`);
    return end;
  };
  return {
    run,
    runs,
    timers,
    clock,
    ports: base,
    calm,
    now: () => timestampOf(clock),
    start: (plan, { input = null, ...options } = {}) =>
      runPlan({
        ...base,
        plan,
        create: {
          name: plan.name,
          tags: [],
          mode: 'AUTO',
          globalMode: 'IMPLEMENTATION',
          input,
          limits: {},
          seed: 7,
          ...(options.source === undefined ? {} : { source: options.source }),
        },
        ...options,
      }),
    resume: (plan, options = {}) => runPlan({ ...base, plan, ...options }),
    async end(started) {
      let end: RunEnd | undefined;
      let thrown: { readonly error: unknown } | undefined;
      started.finished.then(
        value => {
          end = value;
        },
        error => {
          thrown = { error };
        },
      );
      for (let rounds = 0; rounds < 20_000; rounds++) {
        await calm();
        if (thrown !== undefined) throw thrown.error;
        if (end !== undefined) return settled(end);
        if (timers.next === undefined) throw new Error('the run has not ended, and nothing more will happen');
        timers.advance(timers.next);
      }
      throw new Error('the run does not end');
    },
    async events() {
      return (await runs.events(run, 0, 100_000)).map(({ event }) => event.type);
    },
    async state() {
      const record = await runs.run(run);
      return Object.fromEntries(await runs.at(run, 'state', record?.frames ?? 0));
    },
  };
}
