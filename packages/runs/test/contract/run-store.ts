import type { Commit, RunFeed, RunReader } from '@signalbox/runs';
import { describeArtifacts } from './artifacts.ts';
import { describeCommits } from './commits.ts';
import { describeForks } from './forks.ts';
import { describeFrames } from './frames.ts';
import { describeRows } from './rows.ts';

export type RunStore = Commit & RunReader & RunFeed;

/** The contract of every store of runs. `open` gives an empty one, which the test's end closes. */
export function describeRunStore(name: string, open: () => RunStore): void {
  describeCommits(name, open);
  describeFrames(name, open);
  describeForks(name, open);
  describeRows(name, open);
  describeArtifacts(name, open);
}
