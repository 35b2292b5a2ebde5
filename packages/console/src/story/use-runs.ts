import type { Client } from '@signalbox/client';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { emptyList, type RunsList, toldList } from './runs-list.ts';
import { createStore } from './store.ts';

/** The list of runs, live for as long as the page shows it. */
export function useRuns(client: Client): RunsList {
  const store = useMemo(() => createStore(emptyList), [client]);
  useEffect(() => client.watch('all', news => store.change(list => toldList(list, news))).close, [client, store]);
  return useSyncExternalStore(store.subscribe, store.read);
}
