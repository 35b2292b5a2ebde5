// Snapshot and restore of a working directory, next to the floor that they cannot go below.
// node bench/undo.ts [--n 20] [--dir DIR] [--calls]    prints JSON lines; with --calls only those of inner calls.
//
// `manifest` is the floor of a whole scan: an lstat of every entry. `bytes` is the floor of what changed: the same bytes
// written, synced, renamed and the directory synced, once. `ratio` is (ms - bytesMs) / floorMs, medians of one run in which
// all are interleaved.
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { performance } from 'node:perf_hooks';
import { createIdSource, type SessionId } from '@signalbox/model';
import {
  type ContentStore,
  createExecutionState,
  createPathLocks,
  createResources,
  createSession,
  createToolRunner,
  defineTool,
  type FilesystemSnapshot,
  filesystem,
  type HostFilesystem,
  openHostContentStore,
  openHostFilesystem,
  openHostUndoLog,
  resource,
  succeed,
} from '@signalbox/state';
import * as z from 'zod';
import { manifest } from './floors/floors.mjs';
import { benchCommands } from './undo/commands.ts';
import { benchInnerCalls } from './undo/inner-calls.ts';

const argument = (name: string, fallback: string) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? fallback : (process.argv[at + 1] ?? fallback);
};
const rounds = Number(argument('--n', '30'));
const WARM_UP = 10;
const base = argument('--dir', os.tmpdir());

if (!process.argv.includes('--calls')) {
  for (const size of [1000, 10_000]) await benchTree(size);
  await benchPlainTool();
  await benchCommands(base, rounds, print);
}
await benchInnerCalls(base, rounds, print);

async function benchTree(size: number): Promise<void> {
  const directory = fs.mkdtempSync(path.join(base, 'undo-'));
  try {
    const walk = manifest(directory, size) as () => number;
    const root = `${directory}/tree`;
    const store = openHostContentStore(`${directory}/blobs`);
    const opened = openHostFilesystem({
      root,
      store,
      undoLog: openHostUndoLog(`${directory}/undo`),
    });
    if (!opened.ok) throw new Error(opened.error.message);
    const files = opened.value;
    const first = performance.now();
    await files.encode(await snapshot(files, store));
    print({ bench: 'first-snapshot', files: size, ms: round(performance.now() - first) });
    await settled(`${root}/0/f0.txt`);

    const times = new Map<string, number[]>();
    const time = async <T>(name: string, work: () => T | Promise<T>): Promise<T> => {
      const started = performance.now();
      const done = await work();
      times.set(name, [...(times.get(name) ?? []), performance.now() - started]);
      return done;
    };
    for (let round = 0; round < WARM_UP + rounds; round++) {
      if (round === WARM_UP) times.clear();
      const changed = `${(round * 7) % (size / 50)}/f${((round * 7) % (size / 50)) * 50}.txt`;
      const content = () => `${performance.now()} ${'x'.repeat(2000)}`;
      await files.encode(await snapshot(files, store));
      await time('manifest', walk);
      await time('bytes', () => durable(`${directory}/floor`, content()));

      fs.writeFileSync(`${root}/${changed}`, content());
      const whole = await time('snapshot whole', () => snapshot(files, store));
      await time('begin', () => begin(files, whole, `whole ${round}`));
      fs.writeFileSync(`${root}/${changed}`, content());
      await time('restore whole', () => restore(files, whole, `whole ${round}`));

      fs.writeFileSync(`${root}/${changed}`, content());
      const known = await time('snapshot known', () => snapshot(files, store, [changed]));
      await time('begin', () => begin(files, known, `known ${round}`, [changed]));
      fs.writeFileSync(`${root}/${changed}`, content());
      await time('restore known', () => restore(files, known, `known ${round}`, [changed]));
    }
    const median = (name: string) =>
      [...(times.get(name) ?? [])].sort((a, b) => a - b)[Math.floor((times.get(name)?.length ?? 0) / 2)] ?? 0;
    const floors = { floorMs: round(median('manifest')), bytesMs: round(median('bytes')) };
    print({ bench: 'begin a call: keep directories, write the record', files: size, ms: round(median('begin')) });
    for (const name of ['snapshot whole', 'restore whole', 'snapshot known', 'restore known']) {
      const ms = median(name);
      const ratio = name.endsWith('whole') ? { ratio: round((ms - median('bytes')) / median('manifest')) } : {};
      print({ bench: name, files: size, changed: 1, ms: round(ms), ...ratio, ...floors });
    }
  } finally {
    fs.rmSync(directory, { recursive: true, force: true });
  }
}

/** What a tool without file effects costs more than its handler. */
async function benchPlainTool(): Promise<void> {
  const clock = { now: () => Date.now() };
  const rng = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) };
  const ids = createIdSource(clock, rng);
  const directory = fs.mkdtempSync(path.join(base, 'undo-'));
  const opened = openHostFilesystem({
    root: directory,
    store: openHostContentStore(`${directory}/blobs`),
    undoLog: openHostUndoLog(`${directory}/undo`),
  });
  if (!opened.ok) throw new Error(opened.error.message);
  const state = createExecutionState({
    session: createSession({ id: ids.mint<SessionId>(), clock }),
    resources: createResources([resource(filesystem, opened.value)]),
    clock,
    ids,
  });
  const handler = () => succeed(1);
  const tool = defineTool({
    name: 'plain',
    description: 'answers at once',
    input: z.strictObject({}),
    output: z.number(),
    risk: 'low',
    effects: { kind: 'none' },
    handler,
  });
  const runner = createToolRunner({ state, tools: [tool], locks: createPathLocks(), evaluation: 'bench' });
  const calls = 20_000;
  let started = performance.now();
  for (let index = 0; index < calls; index++) await handler();
  const floorMs = (performance.now() - started) / calls;
  started = performance.now();
  for (let index = 0; index < calls; index++) await runner.execute({ id: `${index}`, name: 'plain', input: {} });
  const ms = (performance.now() - started) / calls;
  print({
    bench: 'tool without file effects',
    calls,
    ms: round(ms),
    floorMs: round(floorMs),
    moreMs: round(ms - floorMs),
  });
  fs.rmSync(directory, { recursive: true, force: true });
}

/** A snapshot whose contents are durable. */
async function snapshot(
  files: HostFilesystem,
  store: ContentStore,
  paths?: readonly string[],
): Promise<FilesystemSnapshot> {
  const taken = await files.snapshot(paths === undefined ? {} : { paths });
  if (!taken.ok) throw new Error(taken.error.message);
  await store.sync();
  return taken.value;
}

async function begin(
  files: HostFilesystem,
  before: FilesystemSnapshot,
  id: string,
  paths?: readonly string[],
): Promise<void> {
  const begun = await files.begin({ id, tool: 'bench', before, ...(paths && { paths }) });
  if (!begun.ok) throw new Error(begun.error.message);
}

async function restore(
  files: HostFilesystem,
  to: FilesystemSnapshot,
  id: string,
  paths?: readonly string[],
): Promise<void> {
  const staged = await files.stage(to, { id, left: 'present', ...(paths && { paths }) });
  if (!staged.ok) throw new Error(staged.error.message);
  const applied = await staged.value.apply();
  if (!applied.ok) throw new Error(applied.error.message);
  await staged.value.finish();
}

function durable(file: string, content: string): void {
  const fd = fs.openSync(`${file}.tmp`, 'w');
  fs.writeSync(fd, content);
  fs.fsyncSync(fd);
  fs.closeSync(fd);
  fs.renameSync(`${file}.tmp`, file);
  const parent = fs.openSync(path.dirname(file), 'r');
  fs.fsyncSync(parent);
  fs.closeSync(parent);
}

/** Waits until the files that were just made no longer look as if they might still change. */
async function settled(file: string): Promise<void> {
  while (Date.now() - fs.statSync(file).ctimeMs < 100) await new Promise(setImmediate);
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function print(line: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
