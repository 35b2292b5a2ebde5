import { sqliteCode } from '@signalbox/journal';
import { err, ok, type Result, type RunId } from '@signalbox/model';
import { unusable } from '../sqlite/connection.ts';
import { openReadConnection, type ReadError } from '../sqlite/read-connection.ts';

/** How many records each run has according to its row: enough to compare a database with its journals. */
export function readLogLengths({ path }: { readonly path: string }): Result<ReadonlyMap<RunId, number>, ReadError> {
  const connection = openReadConnection(path);
  if (!connection.ok) return connection;
  const database = connection.value;
  try {
    const rows = database.prepare('select id, records from runs').all();
    return ok(new Map(rows.map(({ id, records }) => [id as RunId, Number(records)])));
  } catch (cause) {
    if (sqliteCode(cause) === undefined || !(cause instanceof Error)) throw cause;
    return err(unusable(cause.message));
  } finally {
    database.close();
  }
}
