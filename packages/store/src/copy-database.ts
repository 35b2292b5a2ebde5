import { closeToOthers, sqliteCode } from '@signalbox/journal';
import { err, ok, type Result } from '@signalbox/model';
import { unusable } from './sqlite/connection.ts';
import { openReadConnection, type ReadError } from './sqlite/read-connection.ts';

/**
 * Copies a database as of one moment to a new file, even while it is written. Uses SQLite only: opening the file any other way would drop
 * this process's locks.
 */
export function copyDatabase({ from, to }: { readonly from: string; readonly to: string }): Result<void, ReadError> {
  const connection = openReadConnection(from);
  if (!connection.ok) return connection;
  try {
    connection.value.prepare('vacuum into ?').run(to);
    closeToOthers(to);
    return ok(undefined);
  } catch (cause) {
    if (sqliteCode(cause) === undefined || !(cause instanceof Error)) throw cause;
    return err(unusable(cause.message));
  } finally {
    connection.value.close();
  }
}
