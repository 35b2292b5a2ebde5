import type { lineageOf } from '@signalbox/app/host';
import { shown } from '../terminal.ts';

/** A run's parent and forks, one line each. */
export function describeLineage({ parent, forks }: Awaited<ReturnType<typeof lineageOf>>): readonly string[] {
  return [
    ...(parent === undefined ? [] : [`  from frame ${parent.frame} of ${parent.run}`]),
    ...forks.map(({ run, frame, status, name }) => `  frame ${frame} → ${run}  ${status}  ${shown(name)}`),
  ];
}
