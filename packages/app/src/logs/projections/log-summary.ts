import type { Timestamp } from '@signalbox/model';
import type { LogLevel, LogLine } from './log-line.ts';

/** What a log holds, at a glance; made from its lines alone, so it can be made again. */
export interface LogSummary {
  readonly version: 1;
  readonly run: string;
  readonly correlationId: string;
  readonly lines: number;
  readonly bytes: number;
  readonly first?: Timestamp | undefined;
  readonly last?: Timestamp | undefined;
  readonly lastSeq: number;
  readonly byLevel: Readonly<Partial<Record<LogLevel, number>>>;
  readonly byEvent: Readonly<Record<string, number>>;
  /** Lines whose fields were cut to size. */
  readonly truncated: number;
  /** Lines that were not written, because the log had reached its size: the least important went first. */
  readonly dropped: Readonly<Partial<Record<LogLevel, number>>>;
  /** The first failures, in order. */
  readonly failures: readonly {
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

export function withLine(summary: LogSummary, line: LogLine, bytes: number): LogSummary {
  const { level, event, timestamp, seq, node, message, truncated } = line;
  const isFailure = (level === 'error' || level === 'fatal') && summary.failures.length < MAX_FAILURES;
  return {
    ...summary,
    lines: summary.lines + 1,
    bytes: summary.bytes + bytes,
    first: summary.first ?? timestamp,
    last: timestamp,
    lastSeq: Math.max(summary.lastSeq, seq ?? -1),
    byLevel: counted(summary.byLevel, level),
    byEvent: counted(summary.byEvent, event),
    truncated: summary.truncated + (truncated === true ? 1 : 0),
    failures: isFailure
      ? [...summary.failures, { at: timestamp, ...(node !== undefined && { node }), message }]
      : summary.failures,
  };
}

export function withDropped(summary: LogSummary, { level, seq }: LogLine): LogSummary {
  return { ...summary, dropped: counted(summary.dropped, level), lastSeq: Math.max(summary.lastSeq, seq ?? -1) };
}

function counted<Key extends string>(
  counts: Readonly<Partial<Record<Key, number>>>,
  key: Key,
): Readonly<Record<Key, number>> {
  return { ...counts, [key]: (counts[key] ?? 0) + 1 } as Readonly<Record<Key, number>>;
}
