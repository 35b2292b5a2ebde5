import { canonicalJson, TRUNCATION_MARKER, truncateUtf8, utf8Length } from '@signalbox/model';
import { budgets } from './bounded-text.ts';
import type { TraceEntry } from './event-data.ts';
import type { TraceId } from './ids.ts';

/**
 * A trace within its budgets. Entries keep their order: texts are cut from the last entry backwards, and if that is not
 * enough the last entries are dropped. Cuts are marked.
 */
export function boundTrace(
  traceId: TraceId,
  entries: readonly TraceEntry[],
): { readonly traceId: TraceId; readonly entries: TraceEntry[] } {
  const kept = entries.slice(0, budgets.traceEntries).map(entry => ({
    ...entry,
    summary: truncateUtf8(entry.summary, budgets.traceSummary),
    ...(entry.refs && { refs: entry.refs.slice(0, budgets.traceRefs) }),
  }));
  if (kept.length < entries.length) markLast(kept);
  const excess = () => utf8Length(canonicalJson({ traceId, entries: kept })) - budgets.traceTotal;
  for (let index = kept.length - 1; index >= 0 && excess() > 0; index--) {
    const entry = kept[index];
    if (entry !== undefined) entry.summary = shortened(entry.summary, excess());
  }
  while (kept.length > 1 && excess() > 0) {
    kept.pop();
    markLast(kept);
  }
  return { traceId, entries: kept };
}

/** Shortens a text by some bytes if possible: at most down to the marker. */
function shortened(text: string, by: number): string {
  const marker = utf8Length(TRUNCATION_MARKER);
  const length = utf8Length(text);
  return length <= marker ? text : truncateUtf8(text, Math.max(marker, length - by));
}

function markLast(entries: { summary: string }[]): void {
  const last = entries.at(-1);
  if (last === undefined || last.summary.endsWith(TRUNCATION_MARKER)) return;
  last.summary =
    utf8Length(last.summary) + utf8Length(TRUNCATION_MARKER) <= budgets.traceSummary
      ? last.summary + TRUNCATION_MARKER
      : truncateUtf8(`${last.summary}${TRUNCATION_MARKER}`, budgets.traceSummary);
}
