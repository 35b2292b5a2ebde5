import type { RunSummary } from '@signalbox/model';
import type { LinkProps } from '@tanstack/react-router';

/** The address of a run: plan runs have their own page, guided ones are in their session. */
export function linkToRun({ id, guided }: Pick<RunSummary, 'id' | 'guided'>): LinkProps {
  return guided === undefined
    ? { to: '/runs/$run', params: { run: id }, search: {} }
    : { to: '/workflows', search: { session: guided.sessionId } };
}
