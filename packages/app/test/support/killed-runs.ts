import { Bug } from '@signalbox/model';
import { type SeededRng, startChild } from '@signalbox/testkit';
import { childScript } from '../../../../test/child-script.ts';

const child = childScript(import.meta.dirname, 'killed-runs-child.ts');
/** How many runs one owner drives when it dies. */
const TOGETHER = 10;
/** Fewer commits than a run has, so that an owner that drives some dies before they end. */
const COMMITS = 10;

/**
 * Fills the data directory of a folder with runs whose owners were killed at any of their commits. Some were resumed afterwards, some of those
 * by an owner that was killed too, and some were not. Returns how many owners died.
 */
export async function killedRuns(folder: string, count: number, rng: Pick<SeededRng, 'below'>): Promise<number> {
  let died = 0;
  const life = async (kill: string, ...how: readonly (string | number)[]) => {
    const { signal, code } = await startChild(child, folder, kill, ...how).ended;
    if (signal === 'SIGKILL') died += 1;
    else if (code !== 0) throw new Bug(`an owner ended with ${code}`);
  };
  const within = (runs: number) => `${rng.below(2) === 0 ? 'before' : 'after'}:${1 + rng.below(runs * COMMITS)}`;
  for (let started = 0, round = 0; started < count; started += TOGETHER, round++) {
    const runs = Math.min(TOGETHER, count - started);
    await life(within(runs), 'start', runs);
    if (round % 3 === 0) await life(within(runs), 'take-up');
    if (round % 3 === 1) await life('never', 'take-up');
  }
  return died;
}
