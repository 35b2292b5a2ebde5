import { type Guard, ownerDeathsOf, type Task, type WriteSet } from '@signalbox/runs';
import { PlanError } from '../plan-error.ts';
import type { EngineBase } from './engine.ts';
import type { PlanRunOptions, RunEnd } from './engine-options.ts';

/**
 * Commits that are on their way while the run continues, so that short tasks do not wait for the disk one by one.
 *
 * 1. They are sent, stored and answered in order, each on the version of the one before it: if one fails, so do all after it, and the run
 *    is as it was before the failed one.
 * 2. Only a task whose author says that it may run twice (`effects="none"`) starts before its commit is durable. A commit that starts or
 *    ends any other work is waited for.
 * 3. Nothing that others can see happens before everything so far is durable: `durable` and `catchUp` are called first.
 * 4. The first frames of a process wait for each commit. So a task that ends its process is known after the next start, however far the run
 *    was ahead of its commits.
 */
export interface CommitsAhead {
  /** Whether commits are on their way. */
  readonly any: boolean;
  /** The end of a run whose commit failed. */
  readonly lost: RunEnd | undefined;
  /** Whether a commit with these writes may be sent without waiting for its answer. */
  allows(writes: WriteSet): boolean;
  /** Sends a commit, and waits only if too many are on their way. */
  send(writes: WriteSet, guard: Guard, onDurable: (nextSeq: number) => void): Promise<RunEnd | undefined>;
  /** Resolves when all commits are durable, or one has failed. */
  durable(): Promise<RunEnd | undefined>;
  /** The same for code that cannot wait otherwise; the run stays with its commits from now on. */
  catchUp(): void;
}

export interface AheadLimits {
  /** How many commits may be on their way. */
  readonly most?: number;
  /** How many frames of a process wait for their commits; more than may be on their way. */
  readonly patientFrames?: number;
}

const MOST_AHEAD = 16;
const PATIENT_FRAMES = 32;
const CATCH_UP_MS = 30_000;

export function createCommitsAhead({ options, memory, structure, request }: EngineBase): CommitsAhead {
  const { run, commit, query } = options;
  const { most = MOST_AHEAD, patientFrames = PATIENT_FRAMES } = options.commitsAhead ?? {};
  const isPatient = !mayGetAhead(options);
  const firstFrame = memory.nextFrame + patientFrames;
  const onTheirWay = new Set<Promise<void>>();
  let lost: RunEnd | undefined;
  let isTogether = false;

  const isRepeatable = (task: Task) => {
    const node = structure.nodeOf(task.node);
    return node?.kind === 'task' && node.data.effects === 'none' && ownerDeathsOf(task).length === 0;
  };

  return {
    get any() {
      return onTheirWay.size > 0;
    },
    get lost() {
      return lost;
    },
    allows({ run: change, frame, artifacts, tasks = [] }) {
      if (isPatient || isTogether || lost !== undefined || frame === undefined) return false;
      if (frame.index < firstFrame) return false;
      if (change !== undefined || artifacts !== undefined || memory.orphaned.length > 0) return false;
      return !isLimited(memory.limits) && tasks.every(isRepeatable);
    },
    async send(writes, guard, onDurable) {
      const answered = commit.commit(writes, guard).then(committed => {
        onTheirWay.delete(answered);
        if (committed.ok) {
          if (lost === undefined) onDurable(committed.value.nextSeq);
          return;
        }
        lost ??= { status: 'lost', error: committed.error };
        request('input');
      });
      onTheirWay.add(answered);
      const [first] = onTheirWay;
      if (onTheirWay.size >= most) await first;
      return lost;
    },
    async durable() {
      for (let [first] = onTheirWay; first !== undefined; [first] = onTheirWay) await first;
      return lost;
    },
    catchUp() {
      isTogether = true;
      if (onTheirWay.size === 0 || query === undefined) return;
      const until = performance.now() + CATCH_UP_MS;
      const cell = new Int32Array(new SharedArrayBuffer(4));
      for (;;) {
        const [row] = query('select frames from runs where id = ?', [run]);
        const { frames } = (row ?? {}) as { readonly frames?: number };
        if (Number(frames) >= memory.nextFrame) return;
        if (performance.now() > until)
          throw new PlanError('plan/render-failed', `the commits of run ${run} did not become durable`);
        Atomics.wait(cell, 0, 0, 1);
      }
    },
  };
}

/** A run with files that are recorded with its frames, a traced one and a replay wait for each commit. */
function mayGetAhead({ commitsAhead, recorded, trace, workspace, query, files }: PlanRunOptions): boolean {
  if (commitsAhead === undefined || recorded !== undefined || trace !== undefined || workspace !== undefined)
    return false;
  return query !== undefined || files === undefined;
}

/** Whether a limit may stop the run between any two tasks. */
export function isLimited({ maxRetriesPerTask: _, ...limits }: EngineBase['memory']['limits']): boolean {
  return Object.keys(limits).length > 0;
}
