import type { GuidedRuns } from '@signalbox/guided';
import type { Blobs, RunReader } from '@signalbox/runs';
import { openTurns } from '../turns/open-turns.ts';
import { type AllRunsReads, readAllRuns } from './all-runs.ts';
import { guidedDriver } from './guided-driver.ts';
import { planReads } from './plan-driver.ts';

export interface ReadHomeOptions {
  readonly dataDirectory: string;
  /** Undefined if there is no database. */
  readonly reader: (RunReader & Pick<Blobs, 'get'>) | undefined;
  readonly guided: GuidedRuns;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Every run of a data directory that another process may own: read-only. */
export function readHome({ dataDirectory, reader, guided, env }: ReadHomeOptions): AllRunsReads {
  const plans =
    reader === undefined
      ? []
      : [planReads({ reader, blobs: reader, turns: () => openTurns(dataDirectory, reader, env), driven: () => [] })];
  return readAllRuns([...plans, guidedDriver(guided)]);
}
