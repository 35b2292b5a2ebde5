import type { RunKind, RunSummary } from '@signalbox/model';
import { isIn, type RunsView, views } from './runs-list.ts';

/** The search among runs, as in the address. */
export interface RunsSearch {
  readonly view?: RunsView;
  /** Words in the name, the id, a tag or the plan's file. */
  readonly q?: string;
  readonly tag?: string;
  /** The plan's file. */
  readonly plan?: string;
  /** The run's project folder. */
  readonly project?: string;
  readonly kind?: RunKind;
  readonly since?: Since;
  /** Days in UTC: started on or after the first, on or before the last. */
  readonly from?: string;
  readonly to?: string;
}

export const sinces = ['hour', 'day', 'week'] as const;
export type Since = (typeof sinces)[number];

export const kinds: readonly RunKind[] = ['plan', 'guided'];

const HOUR = 3_600_000;
const spans: Record<Since, number> = { hour: HOUR, day: 24 * HOUR, week: 168 * HOUR };

export function runsSearchOf(given: Readonly<Record<string, unknown>>): RunsSearch {
  const view = views.find(name => name === given.view);
  const since = sinces.find(name => name === given.since);
  const found = {
    view: view === 'all' ? undefined : view,
    q: textOf(given.q),
    tag: textOf(given.tag),
    plan: textOf(given.plan),
    project: textOf(given.project),
    kind: kinds.find(name => name === given.kind),
    since,
    from: dayOf(given.from),
    to: dayOf(given.to),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

export function isFound(search: RunsSearch, run: RunSummary, now: number): boolean {
  const { view = 'all', q = '', tag, plan, project, kind, since, from, to } = search;
  const { record } = run;
  if (!isIn(view, run)) return false;
  if (kind !== undefined && run.kind !== kind) return false;
  if (tag !== undefined && !record.tags.includes(tag)) return false;
  if (plan !== undefined && record.entry !== plan) return false;
  if (project !== undefined && projectOf(run) !== project) return false;
  if (since !== undefined && now - Date.parse(record.createdAt) > spans[since]) return false;
  const day = record.createdAt.slice(0, 10);
  if ((from !== undefined && day < from) || (to !== undefined && day > to)) return false;
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const text = [record.name, record.id, record.entry ?? '', ...record.tags].join('\n').toLowerCase();
  return words.every(word => text.includes(word));
}

/** The run's project folder: the one it was started with, or that of its plan. */
export function projectOf({ kind, record: { entry, directory } }: RunSummary): string | undefined {
  // A guided run belongs to a workflow, which is not a file.
  if (kind === 'guided') return undefined;
  const folder = directory ?? entry?.replace(/[\\/][^\\/]*$/, '');
  return folder === undefined ? undefined : projectFolder(folder);
}

/** A folder, or the parent of the `.signalbox` that holds it. */
export function projectFolder(folder: string): string {
  return folder.replace(/[\\/]\.signalbox([\\/].*)?$/, '');
}

/** The filter values, each once, in order. */
export function facetsOf(runs: readonly RunSummary[]): Record<'tags' | 'plans' | 'projects', readonly string[]> {
  const once = (values: readonly (string | undefined)[]) =>
    [...new Set(values.filter(value => value !== undefined))].toSorted();
  return {
    tags: once(runs.flatMap(({ record }) => record.tags)),
    plans: once(runs.map(({ record }) => record.entry)),
    projects: once(runs.map(projectOf)),
  };
}

function textOf(given: unknown): string | undefined {
  const text = typeof given === 'string' || typeof given === 'number' ? String(given) : '';
  return text === '' ? undefined : text;
}

function dayOf(given: unknown): string | undefined {
  return typeof given === 'string' && /^\d{4}-\d\d-\d\d$/.test(given) ? given : undefined;
}
