import { defined, type FindKind, type FoundThing, findKind, runId } from '@signalbox/model';
import type { LinkProps } from '@tanstack/react-router';
import type { FrameTab } from '../run/run-place.ts';
import { type Since, sinces } from '../story/runs-search.ts';

/** A search over everything, as in the address. */
export interface FindPlace {
  readonly q?: string;
  readonly kinds?: readonly FindKind[];
  readonly since?: Since;
  readonly run?: string;
}

/** An address may hold anything: unknown parts are dropped. */
export function findPlaceOf(given: Readonly<Record<string, unknown>>): FindPlace {
  const q = typeof given.q === 'string' || typeof given.q === 'number' ? String(given.q).slice(0, 400) : '';
  const kinds = Array.isArray(given.kinds)
    ? findKind.options.filter(kind => (given.kinds as unknown[]).includes(kind))
    : [];
  return defined({
    q: q === '' ? undefined : q,
    kinds: kinds.length === 0 ? undefined : kinds,
    since: sinces.find(name => name === given.since),
    run: runId.safeParse(given.run).data,
  });
}

/** Where a result is shown. */
export function linkToFound({ kind, run, session, node, artifact }: FoundThing): LinkProps {
  if (session !== undefined) return { to: '/workflows', search: { session } };
  if (run === undefined) return { to: '/runs' };
  if (kind === 'artifact' && artifact !== undefined)
    return { to: '/artifacts', search: { at: artifact, versions: 'all' } };
  const tab: FrameTab | undefined = kind === 'message' || kind === 'call' || kind === 'file' ? 'transcript' : undefined;
  return { to: '/runs/$run', params: { run }, search: defined({ node, tab }) };
}
