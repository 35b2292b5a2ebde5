import { TRUNCATION_MARKER, truncateUtf8 } from '@signalbox/model';
import { budgets } from '../session/bounded-text.ts';
import type { TraceEntry, TraceRef } from '../session/event-data.ts';

/**
 * The decisions of one walk in order, as many as fit into one record. If there are more, conditions of single steps are
 * dropped first, because loop decisions matter more; then the end is cut and marked. The last entry is the choice and always
 * stays.
 */
export function keptDecisions(entries: readonly TraceEntry[]): readonly TraceEntry[] {
  if (entries.length <= budgets.traceEntries) return entries;
  const chosen = entries.slice(-1);
  const before = entries.slice(0, -1);
  const isOfLoop = (entry: TraceEntry) => entry.refs?.some(ref => ref.kind === 'loop_id') === true;
  const byWeight = [...before.filter(isOfLoop), ...before.filter(entry => !isOfLoop(entry))];
  const wanted = new Set(byWeight.slice(0, budgets.traceEntries - chosen.length));
  const told = before.filter(entry => wanted.has(entry));
  const last = told.pop();
  return last === undefined ? chosen : [...told, { ...last, summary: marked(last.summary) }, ...chosen];
}

export function traceEntryOf(kind: TraceEntry['kind'], summary: string, ...refs: readonly TraceRef[]): TraceEntry {
  return {
    kind,
    summary: truncateUtf8(summary.toWellFormed(), budgets.traceSummary),
    ...(refs.length > 0 && { refs: refs.slice(0, budgets.traceRefs) }),
  };
}

/** A warning as recorded on the node of its attempt, and read back from there. */
export interface RecordedWarning {
  readonly code: string;
  readonly message: string;
}

/** The trace of an attempt with its warnings first. The choice at its end always stays. */
export function traceWithWarnings(
  warnings: readonly RecordedWarning[],
  entries: readonly TraceEntry[],
): readonly TraceEntry[] {
  const told = warnings.map(({ code, message }) =>
    traceEntryOf('evaluated_condition', `${WARNING}${code}: ${message}`),
  );
  return keptDecisions([...told, ...entries]);
}

export function recordedWarnings(entries: readonly TraceEntry[]): readonly RecordedWarning[] {
  return entries.flatMap(({ summary }) => {
    const [, code, message] = /^Warning ([a-z_]+): (.*)$/s.exec(summary) ?? [];
    return code === undefined || message === undefined ? [] : [{ code, message }];
  });
}

const WARNING = 'Warning ';

function marked(summary: string): string {
  if (summary.endsWith(TRUNCATION_MARKER)) return summary;
  return truncateUtf8(summary + TRUNCATION_MARKER, budgets.traceSummary);
}
