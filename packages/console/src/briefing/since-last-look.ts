import type { RunSummary } from '@signalbox/model';
import { useEffect, useState } from 'react';

const KEY = 'signalbox.looked';

/** When this browser last showed the briefing, before this time; undefined the first time. */
export function useLastLook(): string | undefined {
  const [last] = useState(() => localStorage.getItem(KEY) ?? undefined);
  useEffect(() => {
    const look = () => localStorage.setItem(KEY, new Date().toISOString());
    addEventListener('pagehide', look);
    return () => {
      removeEventListener('pagehide', look);
      look();
    };
  }, []);
  return last !== undefined && Number.isNaN(Date.parse(last)) ? undefined : last;
}

/** What happened since, by outcome. */
export interface News {
  readonly began: readonly RunSummary[];
  readonly completed: readonly RunSummary[];
  readonly failed: readonly RunSummary[];
  readonly stopped: readonly RunSummary[];
}

export function newsSince(runs: readonly RunSummary[], since: number): News {
  const after = (at: string | undefined) => at !== undefined && Date.parse(at) > since;
  const ended = (status: RunSummary['record']['status']) =>
    runs.filter(({ record }) => record.status === status && after(record.endedAt ?? record.updatedAt));
  return {
    began: runs.filter(({ record }) => after(record.createdAt)),
    completed: ended('completed'),
    failed: ended('failed'),
    stopped: ended('stopped'),
  };
}
