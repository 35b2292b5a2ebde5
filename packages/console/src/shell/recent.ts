import type { RunId } from '@signalbox/model';
import { useEffect } from 'react';

const KEY = 'signalbox.recent';
const KEPT = 8;

export interface RecentRun {
  readonly run: RunId;
  readonly name: string;
}

/** The runs that were open last in this browser, newest first. */
export function recentRuns(): readonly RecentRun[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    if (!Array.isArray(kept)) return [];
    return kept.filter(one => typeof one?.run === 'string' && typeof one?.name === 'string').slice(0, KEPT);
  } catch {
    return [];
  }
}

/** Keeps a run among the recent ones. */
export function useRecentRun(run: RunId, name: string | undefined): void {
  useEffect(() => {
    if (name === undefined) return;
    const others = recentRuns().filter(one => one.run !== run);
    localStorage.setItem(KEY, JSON.stringify([{ run, name }, ...others].slice(0, KEPT)));
  }, [run, name]);
}
