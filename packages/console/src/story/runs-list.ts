import type { News } from '@signalbox/client';
import { defined, type RunList, type RunSummary } from '@signalbox/model';
import type { Link } from './link.ts';

export interface RunsList {
  readonly link: Link;
  /** Newest first; undefined until the server has sent them. */
  readonly runs: readonly RunSummary[] | undefined;
  /** The cursor of older runs that are not listed yet. */
  readonly next?: string;
}

export const emptyList: RunsList = { link: { status: 'connecting' }, runs: undefined };

export function toldList(list: RunsList, news: News): RunsList {
  switch (news.kind) {
    case 'connection':
      return { ...list, link: news };
    case 'runs':
      return { link: list.link, runs: news.runs, ...defined({ next: news.next }) };
    case 'run': {
      const others = (list.runs ?? []).filter(({ id }) => id !== news.run);
      return { ...list, runs: [...others, news.summary].toSorted(newestFirst) };
    }
    default:
      return list;
  }
}

function newestFirst(a: RunSummary, b: RunSummary): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? 1 : -1;
  // Plans created at the same time have ids in the order of creation.
  return a.id < b.id ? 1 : -1;
}

/** With a page of older runs added at the end. */
export function withOlder({ link, runs = [] }: RunsList, { runs: older, next }: RunList): RunsList {
  const known = new Set(runs.map(({ id }) => id));
  const added = older.filter(({ id }) => !known.has(id));
  return { link, runs: [...runs, ...added], ...defined({ next }) };
}

export const views = ['all', 'active', 'waiting', 'done', 'failed'] as const;
export type RunsView = (typeof views)[number];

/** Whether a run belongs in a view of the list. */
export function isIn(view: RunsView, { record, openDecisions }: RunSummary): boolean {
  switch (view) {
    case 'all':
      return true;
    case 'active':
      return record.status === 'queued' || record.status === 'running';
    case 'waiting':
      return (
        record.status === 'waiting' || record.status === 'paused' || record.status === 'stalled' || openDecisions > 0
      );
    case 'done':
      return record.status === 'completed';
    case 'failed':
      return record.status === 'failed' || record.status === 'stopped';
  }
}

/** A text that changes whenever one of the runs does. */
export function movesOf(runs: readonly RunSummary[]): string {
  return runs.map(({ id, record }) => `${id.slice(-6)}${record.status}`).join();
}
