import type { Commit, WriteSet } from '@signalbox/runs';
import type { PlanRun, RunEnd } from '../src/frames/engine-options.ts';
import type { Harness } from './harness.ts';

/** Commits as another thread makes them: stored in order, and answered some turns after they were sent. */
export interface LateCommits extends Commit {
  /** How many are not answered yet, and how many were not at the same time. */
  readonly waiting: number;
  readonly most: number;
  /** How many frames are stored. */
  readonly frames: number;
  /** Stores the next one now. */
  storeNext(): void;
}

export function lateCommits(to: Commit): LateCommits {
  const unstored: (() => void)[] = [];
  let [waiting, most, frames] = [0, 0, 0];
  const storeNext = () => unstored.shift()?.();
  return {
    async commit(writes: WriteSet, guard) {
      waiting += 1;
      most = Math.max(most, waiting);
      const committed = new Promise<Awaited<ReturnType<Commit['commit']>>>((resolve, reject) => {
        unstored.push(() => {
          to.commit(writes, guard).then(resolve, reject);
          if (writes.frame !== undefined) frames = writes.frame.index + 1;
        });
      });
      setImmediate(storeNext);
      try {
        return await committed;
      } finally {
        waiting -= 1;
      }
    },
    get waiting() {
      return waiting;
    },
    get most() {
      return most;
    },
    get frames() {
      return frames;
    },
    storeNext,
  };
}

/** Lets everything happen, timers included, until the run has ended. Timers go off when no commit is on its way. */
export async function lateEnd(world: Harness, run: PlanRun, late: LateCommits): Promise<RunEnd> {
  let end: RunEnd | undefined;
  void run.finished.then(value => {
    end = value;
  });
  for (let rounds = 0; rounds < 20_000; rounds++) {
    await world.calm();
    if (end !== undefined) return end;
    if (late.waiting > 0) continue;
    if (world.timers.next === undefined) throw new Error('the run has not ended, and nothing more will happen');
    world.timers.advance(world.timers.next);
  }
  throw new Error('the run does not end');
}
