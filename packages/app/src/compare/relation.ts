import type { RunComparison, RunId } from '@signalbox/model';
import type { RunRecord } from '@signalbox/runs';

/** How two runs are related. */
export function relationOf(a: RunRecord, b: RunRecord): RunComparison['relation'] {
  if (a.id === b.id) return { kind: 'same' };
  const [from, to] = [forkedFrom(a), forkedFrom(b)];
  if (to?.run === a.id) return { kind: 'fork', parent: a.id, frame: to.frame };
  if (from?.run === b.id) return { kind: 'fork', parent: b.id, frame: from.frame };
  if (from !== undefined && from.run === to?.run)
    return { kind: 'siblings', parent: from.run, frame: Math.min(from.frame, to.frame) };
  return { kind: a.source !== undefined && a.source.entry === b.source?.entry ? 'same-plan' : 'other-plans' };
}

export function forkedFrom({ origin }: RunRecord): { readonly run: RunId; readonly frame: number } | undefined {
  return origin?.kind === 'fork' ? origin : undefined;
}
