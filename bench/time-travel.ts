/**
 * Looking back at runs, on the real store, one JSON line a figure.
 *
 *   node bench/time-travel.ts [part ...] [--dir DIR] [--rounds N]       parts: frame replay fork collect bundle
 *
 * frame    opening frame 10 and frame 9,990 of a run of 10,000 frames: tree, statuses, state and reads
 * replay   verifying 1,000 steps next to running them
 * fork     forking a run that refers to 1,000 blobs
 * collect  collecting 1,000 runs next to deleting their rows by hand
 * bundle   exporting, verifying and importing a run of 1,000 steps
 */
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { type RunId, thisMachine, verifyBundle } from '@signalbox/app/host';
import { timestampOf } from '@signalbox/model';
import { type AnyPlan, definePlan, forkPlan, replayRun, runPlan, Task, While } from '@signalbox/plan';
import { jsx } from '@signalbox/plan/jsx-runtime';
import type { OwnerId } from '@signalbox/runs';
import { openArchive, openStore, type Store } from '@signalbox/store';
import * as z from 'zod';
import { exportRun } from '../packages/app/src/bundles/export-run.ts';
import { importRun } from '../packages/app/src/bundles/import-run.ts';
import { filterOf } from '../packages/app/src/secrets/open-secrets.ts';

const parts = { frame: benchFrame, replay: benchReplay, fork: benchFork, collect: benchCollect, bundle: benchBundle };
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { dir: { type: 'string' }, rounds: { type: 'string', default: '5' } },
});
const rounds = Number(values.rounds);
const root = mkdtempSync(path.join(values.dir ?? tmpdir(), 'signalbox-bench-'));
const machine = thisMachine();

try {
  for (const [name, bench] of Object.entries(parts)) {
    if (positionals.length === 0 || positionals.includes(name)) await bench();
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}

/** One step after the other; each adds to the state. */
function steps(count: number): AnyPlan {
  return definePlan({
    name: 'steps',
    state: z.object({ n: z.number().default(0) }),
    render: ctx =>
      jsx(While, {
        id: 'loop',
        condition: () => ctx.state.get('n') < count,
        maxIterations: count,
        children: jsx(Task, { id: 'step', run: () => 1, onFinished: () => ctx.state.update('n', n => n + 1) }),
      }),
  });
}

async function run(store: Store, plan: AnyPlan): Promise<{ readonly id: RunId; readonly ms: number }> {
  const id = machine.ids.mint<RunId>();
  const from = performance.now();
  const { finished } = runPlan({
    plan,
    run: id,
    create: { name: plan.name, tags: [], mode: 'AUTO', globalMode: 'IMPLEMENTATION', input: null, limits: {}, seed: 1 },
    owner: 'bench' as OwnerId,
    commit: store,
    reader: store,
    executor: { execute: () => Promise.reject(new Error('nobody works here')) },
    ...machine,
  });
  const end = await finished;
  if (end.status !== 'completed') throw new Error(JSON.stringify(end));
  return { id, ms: performance.now() - from };
}

async function benchFrame(): Promise<void> {
  const { store } = fresh('frame');
  const { id } = await run(store, steps(10_000));
  const open = async (frame: number) => {
    const from = performance.now();
    await store.frame(id, frame);
    for (const space of ['node', 'status', 'state', 'read'] as const) await store.at(id, space, frame);
    return performance.now() - from;
  };
  const [early, late]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds * 20; round++) {
    early.push(await open(10));
    late.push(await open(9_990));
  }
  const [a, b] = [median(early), median(late)];
  tell('frame', { k10Ms: a, k9990Ms: b, ratio: Math.max(a, b) / Math.min(a, b), target: 'ratio ≤ 1.5, each ≤ 10 ms' });
  store.close();
}

async function benchReplay(): Promise<void> {
  const { store } = fresh('replay');
  const plan = steps(1_000);
  await replayRun({ plan, run: (await run(store, plan)).id, reader: store });
  const [ran, replayed]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const { id, ms } = await run(store, plan);
    ran.push(ms);
    const from = performance.now();
    const { verified, frames } = await replayRun({ plan, run: id, reader: store });
    replayed.push(performance.now() - from);
    if (verified !== frames) throw new Error(`${verified} of ${frames} frames were verified`);
  }
  tell('replay', {
    runMs: median(ran),
    replayMs: median(replayed),
    ratio: median(replayed) / median(ran),
    target: '≤ 0.5',
  });
  store.close();
}

async function benchFork(): Promise<void> {
  const { store } = fresh('fork');
  const large = 'x'.repeat(70_000);
  const plan = definePlan({
    name: 'blobs',
    state: z.object({ all: z.record(z.string(), z.string()).default({}) }).catchall(z.string()),
    render: () => jsx(Task, { id: 'only', run: () => 1 }),
  });
  const { id } = await run(store, plan);
  const record = await store.run(id);
  if (record === undefined) throw new Error('there is no run');
  const { epoch, version, frames } = record;
  const keys = Array.from({ length: 1_000 }, (_, index) => `k${index}`);
  const written = await store.commit(
    {
      at: timestampOf(machine.clock),
      intervals: keys.map(key => ({
        space: 'state' as const,
        key,
        fromFrame: frames - 1,
        change: { kind: 'set' as const, value: `${key} ${large}` },
      })),
    },
    { run: id, epoch, version },
  );
  if (!written.ok) throw new Error(written.error.message);
  const taken: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const from = performance.now();
    const forked = await forkPlan(
      { commit: store, reader: store, ...machine },
      { run: machine.ids.mint<RunId>(), parent: id, frame: frames - 1, by: 'bench' },
    );
    taken.push(performance.now() - from);
    if (!forked.ok) throw new Error(forked.error.message);
  }
  tell('fork', { blobs: keys.length, ms: median(taken), target: '≤ 50 ms' });
  store.close();
}

async function benchCollect(): Promise<void> {
  const plan = steps(5);
  const [collected, byHand]: [number[], number[]] = [[], []];
  for (let round = 0; round < Math.min(rounds, 3); round++) {
    for (const way of ['collect', 'hand'] as const) {
      const { store, file } = fresh(`collect-${round}-${way}`);
      const runs: RunId[] = [];
      for (let at = 0; at < 1_000; at += 50) {
        const some = await Promise.all(Array.from({ length: 50 }, () => run(store, plan)));
        runs.push(...some.map(({ id }) => id));
      }
      if (way === 'collect') {
        const from = performance.now();
        const removed = store.retention.remove(runs);
        collected.push(performance.now() - from);
        if (!removed.ok) throw new Error(removed.error.message);
        store.close();
        continue;
      }
      store.close();
      byHand.push(deleteAll(file));
    }
  }
  tell('collect', {
    ms: median(collected),
    byHandMs: median(byHand),
    ratio: median(collected) / median(byHand),
    target: 'the same',
  });
}

/** Every row of every run, one transaction, range by range. */
function deleteAll(file: string): number {
  const database = new DatabaseSync(file);
  database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on');
  const columnsOf = (table: string) =>
    database
      .prepare('select name from pragma_table_info(?)')
      .all(table)
      .map(({ name }) => String(name));
  const tables = database
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'")
    .all()
    .map(({ name }) => ({ table: String(name), columns: columnsOf(String(name)) }));
  const numbers = database
    .prepare('select n from runs')
    .all()
    .map(row => Number(row.n));
  const hasRun = (columns: readonly string[]) => columns.includes('run');
  const byRun = tables
    .filter(({ columns }) => hasRun(columns))
    .map(({ table }) => database.prepare(`delete from ${table} where run = ?`));
  const byPlace = tables
    .filter(({ columns }) => columns.includes('place') && !hasRun(columns))
    .map(({ table }) => database.prepare(`delete from ${table} where place between ? and ?`));
  const last = database.prepare('delete from runs where n = ?');
  const from = performance.now();
  database.exec('begin immediate');
  for (const n of numbers) {
    for (const statement of byRun) statement.run(n);
    for (const statement of byPlace) statement.run(n * 2 ** 28, (n + 1) * 2 ** 28 - 1);
    last.run(n);
  }
  database.exec('commit');
  const ms = performance.now() - from;
  database.close();
  return ms;
}

async function benchBundle(): Promise<void> {
  const { store, file, folder } = fresh('bundle');
  const { id } = await run(store, steps(1_000));
  const archive = openArchive({ path: file });
  if (!archive.ok) throw new Error(archive.error.message);
  const bundle = path.join(folder, 'run.bundle');
  const [exporting, verifying, importing]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    exporting.push(
      await timed(() =>
        exportRun(
          { archive: archive.value, clock: machine.clock, appVersion: 'bench', secrets: filterOf(undefined) },
          id,
          bundle,
        ),
      ),
    );
    verifying.push(await timed(() => verifyBundle(bundle)));
    importing.push(await timed(() => importRun({ store, dataDirectory: folder, machine, by: 'bench' }, bundle)));
  }
  tell('bundle', {
    exportMs: median(exporting),
    verifyMs: median(verifying),
    importMs: median(importing),
    bytes: statSync(bundle).size,
  });
  archive.value.close();
  store.close();
}

async function timed(work: () => Promise<{ readonly ok: boolean }>): Promise<number> {
  const from = performance.now();
  const done = await work();
  if (!done.ok) throw new Error(JSON.stringify(done));
  return performance.now() - from;
}

function fresh(name: string): { readonly store: Store; readonly file: string; readonly folder: string } {
  const folder = path.join(root, name);
  mkdirSync(folder);
  const file = path.join(folder, 'db.sqlite');
  const store = openStore({ path: file });
  if (!store.ok) throw new Error(store.error.message);
  return { store: store.value, file, folder };
}

function median(found: readonly number[]): number {
  const sorted = [...found].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function tell(part: string, figures: Readonly<Record<string, number | string>>): void {
  const rounded = Object.entries(figures).map(([name, value]) => [
    name,
    typeof value === 'number' ? Number(value.toPrecision(4)) : value,
  ]);
  console.log(JSON.stringify({ bench: 'time-travel', part, ...Object.fromEntries(rounded) }));
}
