import type { EventId, NodeId, RunId } from '@signalbox/model';
import type { EventOf } from '../session/domain-event.ts';
import type { GapAnswer } from '../session/event-data.ts';
import type { GapId } from '../session/ids.ts';
import type { GapReason } from '../session/reasons.ts';
import { perHistory } from './per-history.ts';

/** A gap and its resolution. */
export interface Gap {
  readonly gapId: GapId;
  readonly runId: RunId;
  readonly nodeId: NodeId;
  readonly severity: 'info' | 'warning' | 'critical';
  readonly reason: GapReason;
  readonly summary: string;
  readonly recordedAt: number;
  /** The events that show it. */
  readonly evidence: readonly EventId[];
  /** The later record that resolves it; the first one counts. */
  readonly resolvedBy?: GapId;
  readonly answer?: GapAnswer;
}

/** All gaps in recorded order. A record that resolves another is not a gap itself. */
export const projectGaps = perHistory<readonly Gap[]>((before = [], events) => {
  const records = events.filter(event => event.kind === 'gap_recorded');
  if (records.length === 0) return before;
  const gaps = new Map(before.map(gap => [gap.gapId, gap]));
  for (const event of records) {
    const { resolution } = event.data;
    if (resolution.kind === 'unresolved') {
      if (!gaps.has(event.data.gapId)) gaps.set(event.data.gapId, gapOf(event));
      continue;
    }
    const gap = gaps.get(resolution.resolvesGapId);
    if (gap === undefined || gap.resolvedBy !== undefined) continue;
    const { gapId, answer } = event.data;
    gaps.set(gap.gapId, { ...gap, resolvedBy: gapId, ...(answer && { answer }) });
  }
  return [...gaps.values()];
});

export function isUnresolved(gap: Gap): boolean {
  return gap.resolvedBy === undefined;
}

function gapOf({ data, scope, eventIndex }: EventOf<'gap_recorded'>): Gap {
  const { gapId, severity, reason, summary, evidenceRefs = [] } = data;
  const evidence = evidenceRefs.flatMap(ref => (ref.kind === 'event' ? [ref.eventId] : []));
  return { gapId, ...scope, severity, reason, summary, recordedAt: eventIndex, evidence };
}
