import type { Timestamp } from '@signalbox/model';
import type { LogLevel, LogLine } from './log-line.ts';

/** Summarises a log. It derives from the lines alone, so it can be rebuilt. Updated in place, because there are many lines. */
export interface LogSummary {
  readonly version: 1;
  readonly run: string;
  readonly correlationId: string;
  lines: number;
  bytes: number;
  first?: Timestamp | undefined;
  last?: Timestamp | undefined;
  lastSeq: number;
  readonly byLevel: Partial<Record<LogLevel, number>>;
  readonly byEvent: Partial<Record<string, number>>;
  /** Lines with truncated fields. */
  truncated: number;
  /** Lines that were not written because the log had reached its size limit: least important first. */
  readonly dropped: Partial<Record<LogLevel, number>>;
  /** The first failures, in order. */
  readonly failures: {
    readonly at: Timestamp;
    readonly node?: string | undefined;
    readonly message: string;
  }[];
}

const MAX_FAILURES = 20;

export function emptySummary(run: string, correlationId: string): LogSummary {
  return {
    version: 1,
    run,
    correlationId,
    lines: 0,
    bytes: 0,
    lastSeq: -1,
    byLevel: {},
    byEvent: {},
    truncated: 0,
    dropped: {},
    failures: [],
  };
}

export function addLine(summary: LogSummary, line: LogLine, bytes: number): void {
  const { level, event, timestamp, seq, node, message, truncated } = line;
  summary.lines += 1;
  summary.bytes += bytes;
  summary.first ??= timestamp;
  summary.last = timestamp;
  summary.lastSeq = Math.max(summary.lastSeq, seq ?? -1);
  count(summary.byLevel, level);
  count(summary.byEvent, event);
  if (truncated === true) summary.truncated += 1;
  if ((level === 'error' || level === 'fatal') && summary.failures.length < MAX_FAILURES)
    summary.failures.push({ at: timestamp, ...(node !== undefined && { node }), message });
}

export function addDropped(summary: LogSummary, { level, seq }: LogLine): void {
  count(summary.dropped, level);
  summary.lastSeq = Math.max(summary.lastSeq, seq ?? -1);
}

function count<Key extends string>(counts: Partial<Record<Key, number>>, key: Key): void {
  counts[key] = (counts[key] ?? 0) + 1;
}
