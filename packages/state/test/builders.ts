import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { createIdSource, type IdSource, type Result, type Rng, type SessionId } from '@signalbox/model';
import * as z from 'zod';
import { lookIntoClosed } from '../src/filesystem/closed-paths.ts';
import { osPath } from '../src/filesystem/path-name.ts';
import { removeTree } from '../src/filesystem/remove-tree.ts';
import {
  append,
  type CheckpointStore,
  createExecutionState,
  createMemoryContentStore,
  createMemoryFilesystem,
  createMemoryUndoLog,
  createPathLocks,
  createResources,
  createSession,
  createToolRunner,
  defineEvent,
  defineSlice,
  type ExecutionState,
  type Filesystem,
  filesystem,
  type HostFilesystem,
  type HostFilesystemOptions,
  nodeHostFiles,
  openHostFilesystem,
  type ResourceEntry,
  replace,
  resource,
  type Timers,
  type ToolRunnerOptions,
} from '../src/index.ts';

/** A clock that stands still until it is moved. */
export function createTestClock(start = 1_700_000_000_000): { now(): number; advance(ms: number): void } {
  let now = start;
  return { now: () => now, advance: ms => (now += ms) };
}

/** Timers that fire when the test says so. */
export function createTestTimers(): Timers & { fire(): void; readonly waiting: number } {
  const waiting = new Set<() => void>();
  return {
    after(_ms, run) {
      waiting.add(run);
      return () => waiting.delete(run);
    },
    fire() {
      for (const run of [...waiting]) {
        waiting.delete(run);
        run();
      }
    },
    get waiting() {
      return waiting.size;
    },
  };
}

/** The same bytes for the same seed: a linear congruential generator. */
function createTestRng(seed = 1): Rng {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  };
  return { bytes: length => Uint8Array.from({ length }, next) };
}

export function createTestIds(): IdSource {
  return createIdSource(createTestClock(), createTestRng(7));
}

const planItem = z.strictObject({ objective: z.string(), status: z.string() });
export const plan = defineSlice({ name: 'Plan', item: planItem });
export const setupPlan = defineEvent('SetupPlan', planItem);
export const note = defineSlice({ name: 'Note', item: z.string(), policy: 'log' });
export const noted = defineEvent('Noted', z.string());

export interface TestState {
  readonly state: ExecutionState;
  readonly files: Filesystem;
  readonly clock: ReturnType<typeof createTestClock>;
  readonly ids: IdSource;
}

/** A state with a plan, a log of notes and a filesystem. */
export function createTestState(
  options: {
    files?: Filesystem;
    checkpoints?: CheckpointStore;
    resources?: readonly ResourceEntry[];
    clock?: ReturnType<typeof createTestClock>;
    cut?: (text: string, most: number) => string;
  } = {},
): TestState {
  const clock = options.clock ?? createTestClock();
  const ids = createIdSource(clock, createTestRng());
  const files = options.files ?? createMemoryFilesystem();
  const session = createSession({ id: ids.mint<SessionId>(), clock });
  session.slice(plan).register(setupPlan, (_, event) => replace([event]));
  session.slice(note).register(noted, (_, event) => append(event));
  const state = createExecutionState({
    session,
    resources: createResources([resource(filesystem, files), ...(options.resources ?? [])]),
    clock,
    ids,
    ...(options.checkpoints && { checkpoints: options.checkpoints }),
    ...(options.cut && { cut: options.cut }),
  });
  return { state, files, clock, ids };
}

export function createTestRunner(state: ExecutionState, options: Partial<ToolRunnerOptions> = {}) {
  return createToolRunner({ state, tools: [], locks: createPathLocks(), evaluation: 'test', ...options });
}

/** A new directory that is gone when the test is. */
export function temporaryDirectory(): { path: string; remove(): void } {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), 'signalbox-state-'));
  return { path: made, remove: () => removeAll(made) };
}

/**
 * Removes a directory with whatever is in it. A layer that was made ahead may still be ending there: until its namespace is gone, it
 * makes and closes directories of its own.
 */
export function removeAll(directory: string): void {
  for (;;) {
    try {
      removeTree(nodeHostFiles, directory);
      return;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (!['EACCES', 'EBUSY', 'ENOENT', 'ENOTEMPTY'].includes(code)) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

export function openTestFilesystem(root: string, options: Partial<HostFilesystemOptions> = {}): HostFilesystem {
  const store = options.store ?? createMemoryContentStore();
  const undoLog = options.undoLog ?? createMemoryUndoLog();
  return must(openHostFilesystem({ root, ...options, store, undoLog }));
}

/** Returns when the clock that a filesystem stamps changes with has moved on. */
export function clockTicks(directory: string): void {
  const file = path.join(directory, '.tick');
  const stamp = () => {
    fs.writeFileSync(file, '');
    return fs.statSync(file).ctimeMs;
  };
  const first = stamp();
  while (stamp() - first < 5);
  fs.rmSync(file);
}

/** The value of a result that the test expects to be good. */
export function must<T>(result: Result<T, { message: string }>): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

/** Everything under a directory: kind, mode, content or target, by path. What two trees are compared by. */
export function treeOf(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  const below = lookIntoClosed(root);
  const walk = (path: string) => {
    for (const name of below.names(path)) {
      const own = path === '' ? name : `${path}/${name}`;
      const shown = `./${Buffer.from(osPath(own)).toString('latin1')}`;
      const stat = below.stat(own);
      if (stat === undefined) continue;
      const mode = (stat.mode & 0o7777n).toString(8);
      if (stat.isDirectory()) {
        found[shown] = `directory ${mode}`;
        walk(own);
      } else if (stat.isSymbolicLink())
        found[shown] = `link ${fs.readlinkSync(osPath(`${root}/${own}`), { encoding: 'buffer' }).toString('latin1')}`;
      else if (stat.isFile()) {
        const fd = below.openFile(own);
        found[shown] = `file ${mode} ${fs.readFileSync(fd).toString('latin1')}`;
        fs.closeSync(fd);
      } else found[shown] = 'other';
    }
  };
  try {
    walk('');
    return found;
  } finally {
    below.close();
  }
}
