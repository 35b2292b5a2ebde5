import type { RunSummary } from '@signalbox/model';
import { useEffect, useState } from 'react';

const KEY = 'signalbox.looked';

/** When this browser last showed the briefing, before this time; undefined the first time. */
export function useLastLook(): string | undefined {
  const [last] = useState(begunVisit);
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

/** From when on things are news to this person: since the visit before this one, or for the last day. */
export function useNewsFrom(now: number): number {
  const [last] = useState(begunVisit);
  const from = last === undefined ? Number.NaN : Date.parse(last);
  return Number.isNaN(from) ? now - DAY_MS : from;
}

const DAY_MS = 86_400_000;

/** A reload or another page is the same visit, as long as the tab stays. After this time away a new one begins. */
const VISIT_MS = 30 * 60_000;

/** The end of the visit before this one. It is kept with the tab: looking again does not make news old. */
function begunVisit(): string | undefined {
  const looked = localStorage.getItem(KEY) ?? undefined;
  const before = sessionStorage.getItem(KEY);
  const isSameVisit = looked !== undefined && Date.now() - Date.parse(looked) < VISIT_MS;
  if (before !== null && isSameVisit) return before === '' ? undefined : before;
  sessionStorage.setItem(KEY, looked ?? '');
  return looked;
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
