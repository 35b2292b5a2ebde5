import { sqliteCode } from '@signalbox/journal';
import { err, ok, type ProjectId, type Result, type RunId } from '@signalbox/model';
import { unusable } from '../sqlite/connection.ts';
import { openReadConnection, type ReadError } from '../sqlite/read-connection.ts';

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
