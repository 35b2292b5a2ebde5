import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { figure, goal, mean, median, paired, round3, timed, times } from '../figures.ts';
import { step as stepFloor } from '../floors/floors.mjs';
import { type FollowedRun, followed } from './followed-run.ts';
import { lifeOf } from './node-process.ts';
import { type Place, planIn } from './place.ts';
import { repeatablePlan, siblingsPlan, writingPlan } from './plan-files.ts';

const STEPS = 2_000;
/** Steps of the floor before and after each run. */
const FLOOR_STEPS = 500;

interface MeasuredRun extends FollowedRun {
  readonly perStepMs: number;
  readonly floorMs: number;
  /** The rate of the run as a fraction of that of the floor. */
  readonly ratio: number;
  readonly data: string;
}

/** `signalbox run` of 2,000 steps that write state: its rate, its exit and its bytes. */
export async function benchRun(place: Place): Promise<void> {
  const first = planIn(place, writingPlan(1));
  const floor = stepFloor(place.directory());
  const one = await followed(runIn(place, first.plan, path.join(first.home, 'data')));
  const few = bytesIn(path.join(first.home, 'data'));
  const [runs, repeatable, bytes, bareExits]: [MeasuredRun[], MeasuredRun[], Bytes[], number[]] = [[], [], [], []];
  for (let round = 0; round < place.rounds; round++) {
    const run = await measured(place, floor, STEPS);
    repeatable.push(await measured(place, floor, STEPS, repeatablePlan));
    runs.push(run);
    bytes.push(lessBytes(bytesIn(run.data), few));
    bareExits.push(await lifeOf(['-e', '0']));
  }
  goal(
    `run: ${STEPS} steps that write state, of step`,
    runs.map(({ ratio }) => ratio),
    'at least',
    0.45,
    stepFields(runs),
  );
  goal(
    `run: ${STEPS} steps that write state and declare effects="none", of step`,
    repeatable.map(({ ratio }) => ratio),
    'at least',
    0.45,
    stepFields(repeatable),
  );
  const exits = runs.map(({ lastEventAt, exitedAt }) => exitedAt - lastEventAt);
  goal(`run: last event to exit after ${STEPS} steps, ms`, exits, 'at most', 50, {
    after1StepMs: round3(one.exitedAt - one.lastEventAt),
    bareNodeLifeMs: round3(median(bareExits)),
  });
  const perStep = (kind: keyof Bytes) => bytes.map(found => found[kind] / (STEPS - 1));
  const kinds = ['database', 'journal', 'logs', 'blobs', 'other'] as const;
  goal('run: bytes a step on disk', perStep('all'), 'at most', 4_000, {
    ...Object.fromEntries(kinds.map(kind => [kind, Math.round(median(perStep(kind)))])),
  });
}

/** 10,000 steps next to 1,000, each as a fraction of the floor around it. */
export async function benchLong(place: Place): Promise<void> {
  const floor = stepFloor(place.directory());
  const [short, long]: [MeasuredRun[], MeasuredRun[]] = [[], []];
  for (let round = 0; round < Math.ceil(place.rounds / 2); round++) {
    short.push(await measured(place, floor, 1_000));
    long.push(await measured(place, floor, 10_000));
  }
  const ratios = (runs: readonly MeasuredRun[]) => runs.map(({ ratio }) => ratio);
  const scaled = paired(ratios(long), ratios(short), (many, few) => many / few);
  goal('run: 10,000 steps next to 1,000', scaled, 'at least', 0.95);
  figure('run: 1,000 steps', { value: round3(median(ratios(short))), ...stepFields(short) });
  figure('run: 10,000 steps', { value: round3(median(ratios(long))), ...stepFields(long) });
}

/** Tasks 100 to 400 of a list that does one at a time; the run is killed after them. */
export async function benchSiblings(place: Place): Promise<void> {
  const [from, to] = [100, 400];
  const among = async (siblings: number) => {
    const { home, plan } = planIn(place, siblingsPlan(siblings));
    const { endedAt } = await followed(runIn(place, plan, path.join(home, 'data')), to);
    return ((endedAt[to - 1] ?? 0) - (endedAt[from - 1] ?? 0)) / (to - from);
  };
  const [few, many]: [number[], number[]] = [[], []];
  for (let round = 0; round < place.rounds; round++) {
    few.push(await among(1_000));
    many.push(await among(30_000));
  }
  const ratios = paired(many, few, (one, other) => one / other);
  goal('run: a step among 30,000 siblings next to one among 1,000', ratios, 'at most', 1.5, {
    ms: round3(median(many)),
    msAmong1000: round3(median(few)),
  });
}

/** A run in a new data directory between steps of the floor. */
async function measured(place: Place, floor: () => unknown, steps: number, planOf = writingPlan): Promise<MeasuredRun> {
  const { home, plan } = planIn(place, planOf(steps));
  const data = path.join(home, 'data');
  const before = await timed(() => times(FLOOR_STEPS, floor));
  const run = await followed(runIn(place, plan, data));
  const after = await timed(() => times(FLOOR_STEPS, floor));
  if (run.endedAt.length !== steps) throw new Error(`${run.endedAt.length} of ${steps} tasks have ended`);
  const perStepMs = (run.lastEventAt - run.firstStepAt) / steps;
  const floorMs = (before + after) / (2 * FLOOR_STEPS);
  return { ...run, perStepMs, floorMs, ratio: floorMs / perStepMs, data };
}

function stepFields(runs: readonly MeasuredRun[]): object {
  const of = (value: (run: MeasuredRun) => number) => runs.map(value);
  return {
    p50ms: round3(median(of(run => run.perStepMs))),
    meanMs: round3(mean(of(run => run.perStepMs))),
    cpuMs: round3(median(of(run => (run.cpuMs ?? Number.NaN) / run.endedAt.length))),
    floor: 'step',
    floorP50ms: round3(median(of(run => run.floorMs))),
  };
}

function runIn({ program }: Place, plan: string, data: string): readonly string[] {
  return [program, 'run', plan, '--data-dir', data];
}

type Bytes = Readonly<Record<'all' | 'database' | 'journal' | 'logs' | 'blobs' | 'other', number>>;

/** What a data directory takes that nobody uses, by what it is for. */
function bytesIn(data: string): Bytes {
  const database = new DatabaseSync(path.join(data, 'db.sqlite'));
  database.exec('pragma wal_checkpoint(truncate)');
  database.close();
  const bytes = { all: 0, database: 0, journal: 0, logs: 0, blobs: 0, other: 0 };
  for (const entry of readdirSync(data, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    const { size } = statSync(file);
    bytes.all += size;
    bytes[kindOf(path.relative(data, file))] += size;
  }
  return bytes;
}

function kindOf(file: string): Exclude<keyof Bytes, 'all'> {
  const [first = '', , third] = file.split(path.sep);
  if (first.startsWith('db.sqlite')) return 'database';
  if (first === 'blobs') return 'blobs';
  if (first === 'runs') return third === 'logs' ? 'logs' : 'journal';
  return 'other';
}

function lessBytes(bytes: Bytes, empty: Bytes): Bytes {
  const { all, database, journal, logs, blobs, other } = bytes;
  return {
    all: all - empty.all,
    database: database - empty.database,
    journal: journal - empty.journal,
    logs: logs - empty.logs,
    blobs: blobs - empty.blobs,
    other: other - empty.other,
  };
}
