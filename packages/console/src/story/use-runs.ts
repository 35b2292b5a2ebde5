import type { Client } from '@signalbox/client';
import { useCallback, useEffect, useMemo, useSyncExternalStore } from 'react';
import { emptyList, type RunsList, toldList, withOlder } from './runs-list.ts';
import { createStore, nextFrame } from './store.ts';

/** The list of runs, live for as long as the page shows it, and a way to older ones. */
export function useRuns(client: Client): RunsList & { readonly readOlder: () => Promise<void> } {
  const store = useMemo(() => createStore(emptyList, nextFrame), [client]);
  useEffect(() => client.watch('all', news => store.change(list => toldList(list, news))).close, [client, store]);
  const readOlder = useCallback(async () => {
    const { next } = store.read();
    const page = next === undefined ? undefined : await client.runs({ after: next });
    if (page?.ok) store.change(list => (list.next === next ? withOlder(list, page.value) : list));
  }, [client, store]);
  return { ...useSyncExternalStore(store.subscribe, store.read), readOlder };
}
