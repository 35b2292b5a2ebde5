import { appendFileSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { hostDisk, nodeHasher } from '@signalbox/journal';
import { type Digest, type Json, type RunId, thrownText } from '@signalbox/model';
import { type AnyEvent, hasRunEnded, openRecord, type RunReader, recordEvents } from '@signalbox/runs';
import { openBlobFiles } from '@signalbox/store';
import { bytesFor } from '../packed-file.ts';
import { makePrivateDirectory } from '../private-directory.ts';
import { onlyThis, rewriteLog, secretSearch } from '../redact/secret-files.ts';
import { openWrittenLengths } from '../run-journal/written-lengths.ts';
import type { SharedSecrets } from '../secrets/open-secrets.ts';
import { correlationOf } from './correlation.ts';
import { DEFAULT_LOG_BYTES, DEFAULT_LOG_LEVEL, type LogSettings } from './log-config.ts';
import { isAtLeast, type LogLine, lineOfChunk, lineOfEvent } from './projections/log-line.ts';
import { addDropped, addLine, emptySummary, type LogSummary } from './projections/log-summary.ts';
import { pieceOf, readBack, STREAM } from './read-back.ts';
import { firstAfter } from './record-position.ts';

/**
 * Writes the logs of runs from their records: `runs/<run>/logs/stream.ndjson`, one line per event, and `stream.summary.json` beside it.
 * Past a size limit the lines continue in a new file, and earlier ones are compressed: `stream.<number>.ndjson.zst`.
 *
 * 1. The next process writes what a killed one had not: a line names its event, and none is written twice.
 * 2. A log has a size limit. Past half of it debug lines are dropped, past all of it everything below a warning; the summary counts them.
 * 3. A line is in the compressed file before it is removed from the other.
 */
export interface RunLogWriter {
  /** Runs whose logs may be incomplete. */
  behindLogs(): Promise<readonly RunId[]>;
  writeLogs(runs: readonly RunId[]): Promise<WrittenLogs>;
  /** Writes the summaries of open logs. */
  restLogs(): Promise<WrittenLogs>;
  /** Removes a secret from the logs of runs, and from every later line. Returns how many files held it. */
  redactLogs(runs: readonly RunId[], secret: SharedSecrets): Promise<number>;
}

interface WrittenLogs {
  /** The runs whose last lines could not be written. */
  readonly left: readonly RunId[];
  /** Why the first of them failed. */
  readonly fault?: string;
}

export interface RunLogWriterPorts extends LogSettings {
  readonly reader: Pick<RunReader, 'run' | 'records' | 'task'>;
  readonly dataDirectory: string;
  /** Removes secrets. */
  readonly clean: (value: Json) => Json;
  /** Once the process ends, at most one page of a log is written. */
  readonly isEnding?: (() => boolean) | undefined;
}

/** Past this size, lines are compressed. */
export const PIECE_BYTES = 256 * 1024;
const PAGE = 200;

interface OpenLog {
  readonly folder: string;
  readonly correlationId: string;
  readonly nodes: Map<string, string>;
  readonly summary: LogSummary;
  /** The next record to write. */
  next: number;
  /** How many compressed files there are. */
  pieces: number;
  /** Whether agent output is written. A process that continues a log does not know what was written, until the first new event. */
  tellsChunks: boolean;
}

export function createRunLogWriter(ports: RunLogWriterPorts): RunLogWriter {
  const { reader, dataDirectory, level = DEFAULT_LOG_LEVEL, maxBytes = DEFAULT_LOG_BYTES } = ports;
  let { clean } = ports;
  const logs = new Map<RunId, OpenLog>();
  const written = openWrittenLengths(dataDirectory, 'logged');
  /** How many records of a run are written. */
  const lengths = new Map<RunId, number>();
  const blobs = openBlobFiles({ disk: hostDisk, hasher: nodeHasher, home: dataDirectory, writer: 'nobody' });

  /** False if the process ends and the rest is left to the next one. */
  async function write(run: RunId): Promise<boolean> {
    const log = logs.get(run) ?? (await open(run));
    if (log === undefined) return true;
    let status: AnyEvent | undefined;
    for (;;) {
      const page = await reader.records(run, log.next, PAGE);
      const lines = linesFor(log);
      for (const record of page) {
        const { header, body } = opened(record, run);
        const events = recordEvents(header, body, record.hash);
        if (!events.ok) throw new Error(`record ${header.n} of run ${run} is damaged: ${events.error}`);
        for (const { event } of events.value) {
          if (event.type === 'task.started') log.nodes.set(event.task, event.node);
          if (event.type === 'run.status') status = event;
          if (event.seq <= log.summary.lastSeq) continue;
          log.tellsChunks = true;
          lines.add(lineOfEvent(event, log.correlationId, clean));
        }
        for (const chunk of body.stream ?? []) {
          // Single tokens are in the database, for watchers.
          const isPart = chunk.kind === 'token' || chunk.kind === 'thinking' || chunk.kind === 'message';
          if (isPart || !log.tellsChunks) continue;
          const node = log.nodes.get(chunk.task) ?? (await reader.task(run, chunk.task))?.node ?? '';
          lines.add(lineOfChunk(run, node, chunk, log.correlationId, clean));
        }
      }
      lines.end();
      log.next += page.length;
      lengths.set(run, log.next);
      if (page.length < PAGE) break;
      if (ports.isEnding?.() === true) return false;
    }
    if (status?.type === 'run.status' && status.to !== 'running') rest(run, log, hasRunEnded(status.to));
    return true;
  }

  function opened(record: Parameters<typeof openRecord>[0], run: RunId) {
    const found = openRecord(record, nodeHasher, textOf);
    if (!found.ok) throw new Error(`a record of run ${run} is damaged: ${found.error}`);
    return found.value;
  }

  function textOf(name: Digest): string {
    const content = blobs.get(name);
    // Such a value never fits into a line.
    return content.ok ? Buffer.from(content.value).toString() : 'null';
  }

  /** Collects lines, and writes them many at a time. */
  function linesFor(log: OpenLog) {
    let text = '';
    const end = () => {
      if (text !== '') append(log, text);
      text = '';
    };
    return {
      add(line: LogLine) {
        if (!isAtLeast(line.level, level)) return;
        if (isLeftOut(line, log.summary)) {
          addDropped(log.summary, line);
          return;
        }
        const written = `${JSON.stringify(line)}\n`;
        text += written;
        addLine(log.summary, line, Buffer.byteLength(written));
        if (text.length >= PIECE_BYTES) end();
      },
      end,
    };
  }

  function isLeftOut({ level: of }: LogLine, { bytes }: LogSummary): boolean {
    if (bytes >= maxBytes) return !isAtLeast(of, 'warn');
    return bytes >= maxBytes / 2 && of === 'debug';
  }

  async function open(run: RunId): Promise<OpenLog | undefined> {
    const record = await reader.run(run);
    if (record === undefined) return undefined;
    const folder = path.join(dataDirectory, 'runs', run, 'logs');
    makePrivateDirectory(folder);
    const correlationId = await correlationOf(reader, record);
    const summary = emptySummary(run, correlationId);
    const pieces = readBack(folder, summary);
    const isNew = summary.lines === 0;
    const next = isNew ? 0 : await firstAfter(reader, run, record.records, summary.lastSeq);
    const log: OpenLog = { folder, correlationId, nodes: new Map(), summary, next, pieces, tellsChunks: isNew };
    logs.set(run, log);
    return log;
  }

  /** The run is inactive: its summary is written, and the log is opened again when something happens. */
  function rest(run: RunId, { folder, summary }: OpenLog, isOver: boolean): void {
    placed(path.join(folder, SUMMARY), Buffer.from(`${JSON.stringify(summary, null, 2)}\n`));
    if (isOver) logs.delete(run);
  }

  return {
    // Only runs have logs of lines.
    behindLogs: async () => written.behind() as readonly RunId[],
    async writeLogs(runs) {
      lengths.clear();
      const done = await each(runs, write);
      written.note(lengths);
      return done;
    },
    restLogs: () =>
      each([...logs.keys()], async run => {
        const log = logs.get(run);
        if (log !== undefined) rest(run, log, true);
        return true;
      }),
    async redactLogs(runs, secret) {
      const filter = onlyThis(secret);
      const before = clean;
      clean = value => filter.data(before(value));
      let files = 0;
      for (const run of runs) {
        const log = logs.get(run);
        // The rest is read back: counted lines have other lengths now.
        if (log !== undefined) rest(run, log, true);
        const found = await secretSearch(dataDirectory).filesWith(path.join('runs', run, 'logs'), secret);
        const held = found.filter(({ fault }) => fault === undefined);
        for (const { file } of held) rewriteLog(path.join(dataDirectory, file), filter);
        files += held.length;
      }
      return files;
    },
  };

  async function each(runs: readonly RunId[], work: (run: RunId) => Promise<boolean>): Promise<WrittenLogs> {
    const left: RunId[] = [];
    let fault: string | undefined;
    for (const run of runs) {
      try {
        if (!(await work(run))) left.push(run);
      } catch (thrown) {
        logs.delete(run);
        left.push(run);
        fault ??= thrownText(thrown);
      }
    }
    return { left, ...(fault !== undefined && { fault }) };
  }
}

const SUMMARY = 'stream.summary.json';

function append(log: OpenLog, text: string): void {
  const file = path.join(log.folder, STREAM);
  appendFileSync(file, text, { mode: 0o600 });
  if (statSync(file).size >= PIECE_BYTES) {
    log.pieces += 1;
    packAway(log.folder, log.pieces);
  }
}

/** Moves the lines so far into a compressed file. A process killed in between leaves both, which the next reader detects. */
function packAway(folder: string, number: number): void {
  const [from, to] = [path.join(folder, STREAM), path.join(folder, pieceOf(number))];
  placed(to, bytesFor(to, readFileSync(from)));
  rmSync(from);
}

function placed(file: string, content: Uint8Array): void {
  writeFileSync(`${file}.tmp`, content, { mode: 0o600 });
  renameSync(`${file}.tmp`, file);
}
