import type { ErrorEnvelope, WireDecision } from '@signalbox/model';
import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useSyncExternalStore } from 'react';
import { type Link, linkOf } from '../story/link.ts';
import { emptyList, type RunsList, toldList, withOlder } from '../story/runs-list.ts';
import { createStore, nextFrame } from '../story/store.ts';
import { useClient } from './client-context.ts';
import { useRead } from './use-read.ts';

interface Live extends RunsList {
  /** Open decisions of all runs, oldest first; undefined until read. */
  readonly decisions: readonly WireDecision[] | undefined;
  readonly decisionsError: ErrorEnvelope | undefined;
  readOlder(): Promise<void>;
}

const LiveContext = createContext<Live | undefined>(undefined);
const DECISIONS = ['decisions'];

/** State for every page: runs and open decisions, live. One connection for all of them. */
export function LiveProvider({ onRefused, children }: { onRefused(): void; readonly children: ReactNode }) {
  const client = useClient();
  const reads = useQueryClient();
  const store = useMemo(() => createStore(emptyList, nextFrame), []);
  useEffect(() => {
    const { close } = client.watch('all', news => {
      const before = news.kind === 'run' ? store.read().runs?.find(({ id }) => id === news.run) : undefined;
      store.change(list => toldList(list, news));
      // A run counts its open decisions; the decisions are read when one of them may have changed.
      const isQuiet = news.kind === 'run' && before?.openDecisions === 0 && news.summary.openDecisions === 0;
      if (news.kind === 'runs' || (news.kind === 'run' && !isQuiet)) {
        void reads.invalidateQueries({ queryKey: DECISIONS });
      }
    });
    return close;
  }, [client, reads, store]);
  const list = useSyncExternalStore(store.subscribe, store.read);
  useRefused(list.link, onRefused);
  const { data, error } = useRead(DECISIONS, () => client.decisions({ status: 'open' }), { keeps: true });
  // Those of the fleet's agents come with the fleet.
  const ofRuns = useMemo(() => data?.approvals.filter(({ kind }) => kind !== 'agent'), [data]);
  const live = useMemo(
    (): Live => ({
      ...list,
      decisions: ofRuns,
      decisionsError: error ?? undefined,
      async readOlder() {
        const { next } = store.read();
        const page = next === undefined ? undefined : await client.runs({ after: next });
        if (page?.ok) store.change(before => (before.next === next ? withOlder(before, page.value) : before));
      },
    }),
    [client, ofRuns, error, list, store],
  );
  return <LiveContext value={live}>{children}</LiveContext>;
}

export function useLive(): Live {
  const live = useContext(LiveContext);
  if (live === undefined) throw new Error('nothing is live around this part of the page');
  return live;
}

/** Notifies the page when the server no longer knows its token. */
function useRefused(link: Link, onRefused: () => void): void {
  const isRefused = linkOf(link) === 'refused';
  useEffect(() => {
    if (isRefused) onRefused();
  }, [isRefused, onRefused]);
}
