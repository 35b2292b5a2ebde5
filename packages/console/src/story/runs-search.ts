import type { RunSummary } from '@signalbox/model';
import { isIn, type RunsView, views } from './runs-list.ts';

/** What is looked for among the runs, as an address says it. */
export interface RunsSearch {
  readonly view?: RunsView;
  /** Words that the name, the id, a tag or the plan's file hold. */
  readonly q?: string;
  readonly tag?: string;
  readonly since?: Since;
}

export const sinces = ['hour', 'day', 'week'] as const;
export type Since = (typeof sinces)[number];

const HOUR = 3_600_000;
const spans: Record<Since, number> = { hour: HOUR, day: 24 * HOUR, week: 168 * HOUR };

export function runsSearchOf(given: Readonly<Record<string, unknown>>): RunsSearch {
  const view = views.find(name => name === given.view);
  const since = sinces.find(name => name === given.since);
  const q = textOf(given.q);
  const tag = textOf(given.tag);
  return {
    ...(view !== undefined && view !== 'all' && { view }),
    ...(q !== undefined && { q }),
    ...(tag !== undefined && { tag }),
    ...(since !== undefined && { since }),
  };
}

export function isFound({ view = 'all', q = '', tag, since }: RunsSearch, run: RunSummary, now: number): boolean {
  const { record } = run;
  if (!isIn(view, run)) return false;
  if (tag !== undefined && !record.tags.includes(tag)) return false;
  if (since !== undefined && now - Date.parse(record.createdAt) > spans[since]) return false;
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const text = [record.name, record.id, record.entry ?? '', ...record.tags].join('\n').toLowerCase();
  return words.every(word => text.includes(word));
}

function textOf(given: unknown): string | undefined {
  const text = typeof given === 'string' || typeof given === 'number' ? String(given) : '';
  return text === '' ? undefined : text;
}
