import { appendFileSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Json, RunId } from '@signalbox/model';
import type { Timers } from '@signalbox/plan';
import { type AnyEvent, type CommitNotice, hasRunEnded, type RunFeed, type RunReader } from '@signalbox/runs';
import { makePrivateDirectory } from '../private-directory.ts';
import { correlationOf } from './correlation.ts';
import { isAtLeast, type LogLevel, type LogLine, lineOfChunk, lineOfEvent } from './projections/log-line.ts';
import { emptySummary, type LogSummary, withDropped, withLine } from './projections/log-summary.ts';

/**
 * `runs/<run>/logs/stream.ndjson`, one line an event, and `stream.summary.json` beside it.
 *
 * 1. Nothing waits for the log: lines are written a moment after the commit that they tell, many at a time.
 * 2. It is made from what is committed. What a process that was killed had not written, the next one writes: a line says which
 *    event it tells, and none is told twice.
 * 3. It has a size. Past half of it what is for debugging is left out, past all of it what is not a warning; that is counted
 *    in the summary.
 */
export interface RunLogFiles {
  /** Writes what is left. */
  close(): Promise<void>;
}

export interface RunLogOptions {
  readonly feed: RunFeed;
  readonly reader: RunReader;
  readonly dataDirectory: string;
  readonly timers: Timers;
  /** Takes secrets out. */
  readonly clean: (value: Json) => Json;
  readonly level?: LogLevel | undefined;
  readonly maxBytes?: number | undefined;
  /** Told why a log could not be written; the run goes on. */
  readonly onFault?: ((thrown: unknown) => void) | undefined;
}

/** How long lines are gathered before they are written. */
const GATHER_MS = 100;
export const DEFAULT_LOG_BYTES = 16 * 1024 * 1024;
export const DEFAULT_LOG_LEVEL: LogLevel = 'debug';
const PAGE = 500;
/** Between two tries at a log that cannot be written. */
const FIRST_WAIT_MS = 1000;
const MOST_WAIT_MS = 60_000;

interface OpenLog {
  readonly folder: string;
  readonly correlationId: string;
  summary: LogSummary;
  nodes: Map<string, string>;
}

export function openRunLogs(options: RunLogOptions): RunLogFiles {
  const {
    feed,
    reader,
    dataDirectory,
    timers,
    clean,
    level = DEFAULT_LOG_LEVEL,
    maxBytes = DEFAULT_LOG_BYTES,
    onFault,
  } = options;
  const logs = new Map<RunId, OpenLog>();
  let waiting = new Map<RunId, CommitNotice[]>();
  let cancel: (() => void) | undefined;
  let writing: Promise<void> = Promise.resolve();
  /** Runs whose last lines could not be written. */
  const behind = new Set<RunId>();
  let waitMs = FIRST_WAIT_MS;
  let cancelRetry: (() => void) | undefined;
  let isClosed = false;

  const unsubscribe = feed.subscribe('all', notice => {
    const others = waiting.get(notice.run);
    if (others === undefined) waiting.set(notice.run, [notice]);
    else others.push(notice);
    cancel ??= timers.after(GATHER_MS, flush);
  });

  function flush(): void {
    cancel = undefined;
    const gathered = waiting;
    waiting = new Map();
    writing = writing.then(async () => {
      for (const [run, notices] of gathered) {
        try {
          await write(run, notices);
          behind.delete(run);
        } catch (thrown) {
          logs.delete(run);
          if (!behind.has(run)) onFault?.(thrown);
          behind.add(run);
        }
      }
      // What could not be written is read again from what is committed.
      if (behind.size === 0) waitMs = FIRST_WAIT_MS;
      else if (!isClosed) {
        cancelRetry?.();
        cancelRetry = timers.after(waitMs, retry);
        waitMs = Math.min(waitMs * 2, MOST_WAIT_MS);
      }
    });
  }

  function retry(): void {
    for (const run of behind) if (!waiting.has(run)) waiting.set(run, []);
    flush();
  }

  async function write(run: RunId, notices: readonly CommitNotice[]): Promise<void> {
    const log = logs.get(run) ?? (await open(run));
    if (log === undefined) return;
    const told = notices.flatMap(({ events }) => events.map(({ event }) => event));
    const missed = await missedBefore(run, log, told[0]?.seq ?? Number.POSITIVE_INFINITY);
    let text = '';
    const add = (line: LogLine) => {
      if (!isAtLeast(line.level, level)) return;
      if (isLeftOut(line, log.summary)) {
        log.summary = withDropped(log.summary, line);
        return;
      }
      const written = `${JSON.stringify(line)}\n`;
      text += written;
      log.summary = withLine(log.summary, line, Buffer.byteLength(written));
    };
    for (const event of [...missed, ...told]) {
      if (event.type === 'task.started') log.nodes.set(event.task, event.node);
      if (event.seq > log.summary.lastSeq) add(lineOfEvent(event, log.correlationId, clean));
    }
    for (const chunk of notices.flatMap(({ stream }) => stream)) {
      // Token by token it is in the database, for whoever watches.
      if (chunk.kind === 'token' || chunk.kind === 'thinking' || chunk.kind === 'message') continue;
      add(lineOfChunk(run, log.nodes.get(chunk.task) ?? '', chunk, log.correlationId, clean));
    }
    if (text !== '') appendFileSync(path.join(log.folder, STREAM), text, { mode: 0o600 });
    const last = [...missed, ...told].findLast(event => event.type === 'run.status');
    if (last?.type === 'run.status' && last.to !== 'running') rest(run, log, hasRunEnded(last.to));
  }

  function isLeftOut({ level: of }: LogLine, { bytes }: LogSummary): boolean {
    if (bytes >= maxBytes) return !isAtLeast(of, 'warn');
    return bytes >= maxBytes / 2 && of === 'debug';
  }

  /** Events that were committed and never told here, or not by the process before. */
  async function missedBefore(run: RunId, { summary }: OpenLog, until: number): Promise<readonly AnyEvent[]> {
    const missed: AnyEvent[] = [];
    for (let from = summary.lastSeq + 1; from < until; ) {
      const page = await reader.events(run, from, Math.min(PAGE, until - from));
      if (page.length === 0) break;
      missed.push(...page.map(({ event }) => event));
      from += page.length;
    }
    return missed;
  }

  async function open(run: RunId): Promise<OpenLog | undefined> {
    const record = await reader.run(run);
    if (record === undefined) return undefined;
    const folder = path.join(dataDirectory, 'runs', run, 'logs');
    makePrivateDirectory(folder);
    const correlationId = await correlationOf(reader, record);
    const log: OpenLog = {
      folder,
      correlationId,
      summary: readBack(folder, emptySummary(run, correlationId)),
      nodes: new Map(),
    };
    logs.set(run, log);
    return log;
  }

  /** The run does nothing now: its summary is written. It is opened again when something happens. */
  function rest(run: RunId, { folder, summary }: OpenLog, isOver: boolean): void {
    const file = path.join(folder, SUMMARY);
    writeFileSync(`${file}.tmp`, `${JSON.stringify(summary, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${file}.tmp`, file);
    if (isOver) logs.delete(run);
  }

  return {
    async close() {
      unsubscribe();
      isClosed = true;
      cancel?.();
      cancelRetry?.();
      flush();
      await writing;
      for (const [run, log] of logs) {
        try {
          rest(run, log, true);
        } catch (thrown) {
          onFault?.(thrown);
        }
      }
    },
  };
}

const STREAM = 'stream.ndjson';
const SUMMARY = 'stream.summary.json';

/** The summary of the lines that are there. A last line that was cut off goes: its event is told anew. */
function readBack(folder: string, empty: LogSummary): LogSummary {
  const file = path.join(folder, STREAM);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return empty;
  }
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) truncateSync(file, Buffer.byteLength(whole));
  const lines = whole.split('\n').slice(0, -1);
  return lines.reduce((summary, line) => {
    const parsed = parsedLine(line);
    return parsed === undefined ? summary : withLine(summary, parsed, Buffer.byteLength(line) + 1);
  }, empty);
}

function parsedLine(line: string): LogLine | undefined {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return undefined;
  }
}
