import { sqliteCode } from '@signalbox/journal';
import { err, ok, type ProjectId, type Result, type RunId } from '@signalbox/model';
import { PLACES } from '../runs/places.ts';
import { unusable } from '../sqlite/connection.ts';
import { openReadConnection, type ReadError } from '../sqlite/read-connection.ts';
import { allLogs } from './log-numbers.ts';

/** How many records each run has according to its row: enough to compare a database with its journals. With `projects`, these too. */
export function readLogLengths({
  path,
  projects = false,
}: {
  readonly path: string;
  readonly projects?: boolean;
}): Result<ReadonlyMap<RunId | ProjectId, number>, ReadError> {
  const connection = openReadConnection(path);
  if (!connection.ok) return connection;
  const database = connection.value;
  try {
    const tables = ['runs', ...(projects ? ['projects'] : [])];
    const rows = tables.flatMap(table => database.prepare(`select id, records from ${table}`).all());
    return ok(new Map(rows.map(({ id, records }) => [id as RunId | ProjectId, Number(records)])));
  } catch (cause) {
    if (sqliteCode(cause) === undefined || !(cause instanceof Error)) throw cause;
    return err(unusable(cause.message));
  } finally {
    database.close();
  }
}

/** How many records a database holds of each run and project, by its logs as well as its rows: either may be damaged. */
export function readHeldLengths({
  path,
}: {
  readonly path: string;
}): Result<ReadonlyMap<RunId | ProjectId, number>, ReadError> {
  const connection = openReadConnection(path);
  if (!connection.ok) return connection;
  const database = connection.value;
  const rowsIn = (table: string) => () =>
    database
      .prepare(`select id, records from ${table}`)
      .all()
      .map(({ id, records }) => [id as RunId | ProjectId, Number(records)] as const);
  const logs = () => {
    const count = database.prepare('select count(*) as records from records where place >= ? and place < ?');
    return allLogs(database).flatMap(({ n, run }) =>
      run === undefined ? [] : [[run, Number(count.get(n * PLACES, (n + 1) * PLACES)?.records)] as const],
    );
  };
  const lengths = new Map<RunId | ProjectId, number>();
  const faults: Error[] = [];
  const sources = [rowsIn('runs'), rowsIn('projects'), logs];
  try {
    for (const source of sources) {
      try {
        for (const [id, records] of source()) lengths.set(id, Math.max(records, lengths.get(id) ?? 0));
      } catch (cause) {
        if (sqliteCode(cause) === undefined || !(cause instanceof Error)) throw cause;
        faults.push(cause);
      }
    }
  } finally {
    database.close();
  }
  const [fault] = faults;
  return fault !== undefined && lengths.size === 0 ? err(unusable(fault.message)) : ok(lengths);
}
