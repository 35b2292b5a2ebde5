import type { RunSummary } from '@signalbox/model';
import type { LinkProps } from '@tanstack/react-router';

/** Where a run is looked at: a plan's run has a page of its own, a guided one is in its session. */
export function linkToRun({ id, guided }: Pick<RunSummary, 'id' | 'guided'>): LinkProps {
  return guided === undefined
    ? { to: '/runs/$run', params: { run: id }, search: {} }
    : { to: '/workflows', search: { session: guided.sessionId } };
}
