import type { ErrorEnvelope, WireDecision } from '@signalbox/model';
import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useSyncExternalStore } from 'react';
import { type Link, linkOf } from '../story/link.ts';
import { emptyList, type RunsList, toldList, withOlder } from '../story/runs-list.ts';
import { createStore, nextFrame } from '../story/store.ts';
import { useClient } from './client-context.ts';
import { useRead } from './use-read.ts';

interface Live extends RunsList {
  /** What waits for a person, in all runs, oldest first; undefined until it is read. */
  readonly decisions: readonly WireDecision[] | undefined;
  readonly decisionsError: ErrorEnvelope | undefined;
  readOlder(): Promise<void>;
}

const LiveContext = createContext<Live | undefined>(undefined);
const DECISIONS = ['decisions'];

/** What every page may want to know: the runs and what waits, as they are now. One connection for all of them. */
export function LiveProvider({ onRefused, children }: { onRefused(): void; readonly children: ReactNode }) {
  const client = useClient();
  const reads = useQueryClient();
  const store = useMemo(() => createStore(emptyList, nextFrame), []);
  useEffect(() => {
    const open = new Map<string, string>();
    const { close } = client.watch('all', news => {
      store.change(list => toldList(list, news));
      // Whoever waits is told by the number of those who do and by the run's last change, and read in full.
      if (news.kind === 'runs') void reads.invalidateQueries({ queryKey: DECISIONS });
      if (news.kind !== 'run') return;
      const { openDecisions, updatedAt } = news.summary;
      const mark = openDecisions === 0 ? '' : `${openDecisions} ${updatedAt}`;
      if ((open.get(news.run) ?? '') !== mark || openDecisions > 0)
        void reads.invalidateQueries({ queryKey: DECISIONS });
      open.set(news.run, mark);
    });
    return close;
  }, [client, reads, store]);
  const list = useSyncExternalStore(store.subscribe, store.read);
  useRefused(list.link, onRefused);
  const { data, error } = useRead(DECISIONS, () => client.decisions({ status: 'open' }), { keeps: true });
  const live = useMemo(
    (): Live => ({
      ...list,
      decisions: data?.approvals,
      decisionsError: error ?? undefined,
      async readOlder() {
        const { next } = store.read();
        const page = next === undefined ? undefined : await client.runs({ after: next });
        if (page?.ok) store.change(before => (before.next === next ? withOlder(before, page.value) : before));
      },
    }),
    [client, data, error, list, store],
  );
  return <LiveContext value={live}>{children}</LiveContext>;
}

export function useLive(): Live {
  const live = useContext(LiveContext);
  if (live === undefined) throw new Error('nothing is live around this part of the page');
  return live;
}

/** Tells the page when the server does not know its token any more. */
export function useRefused(link: Link, onRefused: () => void): void {
  const isRefused = linkOf(link) === 'refused';
  useEffect(() => {
    if (isRefused) onRefused();
  }, [isRefused, onRefused]);
}
