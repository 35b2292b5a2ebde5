import type { Disk } from '@signalbox/journal';
import { interceptedDisk, type LossyDisk, TEST_SESSION } from '@signalbox/testkit';
import type { Outcome } from './plan.ts';

export const HOME = 'home';
export const SESSION_DIRECTORY = `${HOME}/sessions/${TEST_SESSION}`;

/** Thrown where everything, or one process, stops. */
class Stopped extends Error {}

/**
 * Runs `work` on a copy of `base` and cuts the power before operation number `at`. The disk as it was at that moment,
 * and how far the work had come.
 */
export async function runUntil(
  base: LossyDisk,
  at: number,
  work: (disk: Disk) => Promise<Outcome>,
  ignoredSync: (label: string) => boolean = () => false,
): Promise<{ readonly disk: LossyDisk; readonly outcome: Outcome }> {
  const disk = base.copy();
  const forgetful = interceptedDisk(disk, (operation, path, run) =>
    // A sync returns nothing, so one that is left out returns the same.
    operation.startsWith('sync') && ignoredSync(labelOf(operation, path)) ? (undefined as never) : run(),
  );
  return { disk, outcome: await killedAt(forgetful, at, work) };
}

/** Runs `work` as a process that is killed before operation number `at`; what it did stays in the page cache. */
export async function killedAt(disk: Disk, at: number, work: (disk: Disk) => Promise<Outcome>): Promise<Outcome> {
  let count = 0;
  const mortal = interceptedDisk(disk, (_operation, _path, run) => {
    if (count++ >= at) throw new Stopped();
    return run();
  });
  try {
    return await work(mortal);
  } catch (cause) {
    if (cause instanceof Stopped) return 'stopped';
    throw cause;
  }
}

/** Names a sync by what it makes durable, not by the ids of this run. */
export function labelOf(operation: string, path: string): string {
  const place = path.replace(SESSION_DIRECTORY, '<session>').replace(/\.[0-9a-f]{64}\.\d+\.tmp$/, '<snapshot>');
  return `${operation} ${place}`;
}

export interface Cut {
  readonly survivors: ReadonlySet<number>;
  readonly tornBytes?: number;
}

/** Every outcome of a power cut: each subset of what was not synced, with its last write torn at the bytes asked for. */
export function* cutsOf(disk: LossyDisk, tearsOf: (length: number) => readonly number[]): Generator<Cut> {
  const pending = disk.pending();
  const lastWrite = pending.findLastIndex(effect => effect.kind === 'write');
  for (let mask = 0; mask < 2 ** pending.length; mask++) {
    const survivors = new Set([...pending.keys()].filter(position => ((mask >> position) & 1) === 1));
    yield { survivors };
    if (!survivors.has(lastWrite)) continue;
    for (const tornBytes of tearsOf(pending[lastWrite]?.bytes ?? 0)) yield { survivors, tornBytes };
  }
}
