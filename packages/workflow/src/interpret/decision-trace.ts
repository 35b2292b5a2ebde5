import { canonicalJson, TRUNCATION_MARKER, truncateUtf8, utf8Length } from '@signalbox/model';
import { budgets } from '../session/bounded-text.ts';
import type { TraceEntry, TraceRef } from '../session/event-data.ts';

/** The entries of one `decision_trace_appended`. */
export type DecisionTrace = readonly TraceEntry[];

/** How many records the decisions of one advance take at most. */
export const TRACE_MAX_RECORDS = 8;

/**
 * The decisions of one advance as records within their budgets, in the order they were made. What is more than all
 * records hold is cut at the end, and the last entry says so.
 */
export function boundTrace(entries: readonly TraceEntry[]): readonly DecisionTrace[] {
  const records: TraceEntry[][] = [];
  let room = 0;
  for (const entry of entries) {
    const bytes = utf8Length(canonicalJson(entry)) + 1;
    const current = records.at(-1);
    if (current !== undefined && current.length < budgets.traceEntries && bytes <= room) {
      current.push(entry);
      room -= bytes;
    } else if (records.length < TRACE_MAX_RECORDS) {
      records.push([entry]);
      room = RECORD_ROOM - bytes;
    } else {
      return [...records.slice(0, -1), markCut(records.at(-1) ?? [])];
    }
  }
  return records;
}

export function traceEntryOf(kind: TraceEntry['kind'], summary: string, ...refs: readonly TraceRef[]): TraceEntry {
  return {
    kind,
    summary: truncateUtf8(summary.toWellFormed(), budgets.traceSummary),
    ...(refs.length > 0 && { refs: refs.slice(0, budgets.traceRefs) }),
  };
}

/** Bytes of the entries alone: a record also has an id, its names and the marker where it is cut. */
const RECORD_ROOM = budgets.traceTotal - 128;

function markCut(entries: readonly TraceEntry[]): readonly TraceEntry[] {
  const last = entries.at(-1);
  if (last === undefined) return entries;
  const room = budgets.traceSummary - utf8Length(TRUNCATION_MARKER);
  // The marker is appended even where the summary itself is short.
  const prefix = utf8Length(last.summary) <= room ? last.summary : truncateUtf8(last.summary, budgets.traceSummary);
  const summary = prefix.endsWith(TRUNCATION_MARKER) ? prefix : prefix + TRUNCATION_MARKER;
  return [...entries.slice(0, -1), { ...last, summary: truncateUtf8(summary, budgets.traceSummary) }];
}
