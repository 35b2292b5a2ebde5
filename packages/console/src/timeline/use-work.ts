import type { RunId, WireEvent, WireTask } from '@signalbox/model';
import { useMemo } from 'react';
import { useClient } from '../server/client-context.ts';
import { readPages } from '../server/read-pages.ts';
import { useRead } from '../server/use-read.ts';
import { withMoves } from './run-spans.ts';

/** All tasks of a run: read once for each status of the run, and kept current by its events. */
export function useWork(run: RunId, events: readonly WireEvent[], status: string): readonly WireTask[] | undefined {
  const client = useClient();
  const { data } = useRead(
    ['work', run, status],
    () => readPages(page => client.tasks(run, { limit: 1000, ...page })),
    { keeps: true },
  );
  return useMemo(
    () =>
      data &&
      withMoves(
        data.flatMap(({ tasks }) => tasks),
        events,
      ),
    [data, events],
  );
}
