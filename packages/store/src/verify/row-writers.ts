import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RecordHeader } from '@signalbox/runs';
import type { LogDefect } from './check-run.ts';
import { type OnReplayed, type ReplayPorts, replayLog } from './replay-log.ts';
import { type Difference, tablesOfRuns } from './row-differences.ts';

/** Finds the records that last wrote the expected values of differing rows. It replays the log again, so only changed runs pay for it. */
export function withWriters(ports: ReplayPorts, n: number, differing: readonly Difference[]): readonly LogDefect[] {
  const writers = new Map<Difference, { row: string; header: RecordHeader }>();
  const watched = differing.filter(({ cells }) => cells !== undefined);
  if (watched.length > 0) {
    const replay = replayLog(ports, n, watcher(watched, writers));
    replay.database.close();
  }
  return differing.map(difference => {
    const { cells: _, ...named } = difference;
    return { where: 'table' as const, ...named, ...placeOf(writers.get(difference)?.header) };
  });
}

function watcher(
  watched: readonly Difference[],
  writers: Map<Difference, { row: string; header: RecordHeader }>,
): OnReplayed {
  let reads: readonly (readonly [Difference, StatementSync])[] | undefined;
  return (header, database) => {
    reads ??= watched.map(difference => [difference, rowRead(database, difference.table)]);
    for (const [difference, read] of reads) {
      const row = JSON.stringify(read.get(...(difference.cells ?? [])), (_, cell: unknown) =>
        typeof cell === 'bigint' ? String(cell) : cell,
      );
      if (row !== undefined && writers.get(difference)?.row !== row) writers.set(difference, { row, header });
    }
  };
}

/** Reads one row of a table by its key. */
function rowRead(database: DatabaseSync, name: string): StatementSync {
  const { key = [] } = tablesOfRuns(database).find(table => table.name === name) ?? {};
  const read = database.prepare(`select * from ${name} where ${key.map(column => `${column} = ?`).join(' and ')}`);
  read.setReadBigInts(true);
  return read;
}

/** How a defect names the record that wrote a value. */
export function placeOf(header: RecordHeader | undefined): Pick<LogDefect, 'record' | 'version'> {
  return header === undefined ? {} : { record: header.n, version: header.version };
}
