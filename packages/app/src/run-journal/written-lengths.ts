import path from 'node:path';
import { type Disk, hostDisk } from '@signalbox/journal';
import { readLogLengths } from '@signalbox/store';
import type { LogId } from './run-record-event.ts';

/**
 * How many records of each run or project its journal or its log has: `cache/journaled`, `cache/logged`, one line per write. The last line of a run
 * counts. A line is written after its data is on disk, so it may say less than the truth, never more; a missing line only causes extra
 * checks.
 */
export interface WrittenLengths {
  /** Undefined if nothing is noted for a run. */
  of(run: LogId): number | undefined;
  all(): ReadonlyMap<LogId, number>;
  /** Runs whose logs have more records than that. */
  behind(): readonly LogId[];
  note(lengths: ReadonlyMap<LogId, number>): void;
}

export type Written = 'journaled' | 'logged';

/** Past this many, only the last line of each run is kept. */
const MOST_LINES = 20_000;

export function openWrittenLengths(dataDirectory: string, name: Written, disk: Disk = hostDisk): WrittenLengths {
  const file = path.join(dataDirectory, 'cache', name);
  const last = new Map<LogId, number>();
  let lines = 0;

  function shorten(): void {
    const { lengths } = readLengths(disk, file);
    write(`${file}.tmp`, 'create', textOf(lengths));
    disk.rename(`${file}.tmp`, file);
    // Existing lines are no reason to rewrite soon.
    lines = -lengths.size;
  }

  function write(to: string, mode: 'create' | 'append', text: string): void {
    const opened = disk.open(to, mode);
    try {
      opened.write(Buffer.from(text));
    } finally {
      opened.close();
    }
  }

  return {
    of: run => readLengths(disk, file).lengths.get(run),
    all: () => readLengths(disk, file).lengths,
    behind() {
      // Only runs have a log of lines.
      const logs = readLogLengths({ path: path.join(dataDirectory, 'db.sqlite'), projects: name === 'journaled' });
      if (!logs.ok) return [];
      const noted = readLengths(disk, file);
      lines = noted.lines - noted.lengths.size;
      return [...logs.value].flatMap(([run, records]) => ((noted.lengths.get(run) ?? 0) < records ? run : []));
    },
    note(lengths) {
      const news = new Map([...lengths].filter(([run, length]) => last.get(run) !== length));
      if (news.size === 0) return;
      try {
        disk.makeDirectory(path.dirname(file));
        // Ends a line that was cut off.
        write(file, 'append', `\n${textOf(news)}`);
        lines += news.size;
        for (const [run, length] of news) last.set(run, length);
        if (last.size > MOST_LINES) last.clear();
        if (lines > MOST_LINES) shorten();
      } catch {
        // More is checked next time.
      }
    },
  };
}

function textOf(lengths: ReadonlyMap<LogId, number>): string {
  return [...lengths].map(([run, length]) => `${run} ${length}\n`).join('');
}

function readLengths(
  disk: Disk,
  file: string,
): { readonly lengths: ReadonlyMap<LogId, number>; readonly lines: number } {
  const lengths = new Map<LogId, number>();
  let lines = 0;
  for (const line of textIn(disk, file).split('\n')) {
    const [, run, length] = LINE.exec(line) ?? [];
    if (run === undefined) continue;
    lines += 1;
    lengths.set(run as LogId, Number(length));
  }
  return { lengths, lines };
}

const LINE = /^([0-9a-f-]{36}) (\d{1,9})$/;

function textIn(disk: Disk, file: string): string {
  try {
    const bytes = disk.read(file);
    const text = typeof bytes === 'string' ? '' : Buffer.from(bytes).toString();
    // The last line may be partial.
    return text.slice(0, text.lastIndexOf('\n') + 1);
  } catch {
    return '';
  }
}
