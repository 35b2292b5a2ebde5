import type { lineageOf } from '@signalbox/app/runs';
import { shown } from '../terminal.ts';

/** Where a run comes from, and what was forked from it, a line each. */
export function describeLineage({ parent, forks }: Awaited<ReturnType<typeof lineageOf>>): readonly string[] {
  return [
    ...(parent === undefined ? [] : [`  from frame ${parent.frame} of ${parent.run}`]),
    ...forks.map(({ run, frame, status, name }) => `  frame ${frame} → ${run}  ${status}  ${shown(name)}`),
  ];
}
