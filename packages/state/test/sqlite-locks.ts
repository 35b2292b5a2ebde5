import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { ok } from '@signalbox/model';
import type { LockMode, PathLocks } from '../src/index.ts';

/**
 * Path locks between processes: one small database per directory, held by an open transaction that dies with its process.
 * A lock on a path is a lock of its mode on the path itself and a shared one on every directory above it.
 */
export function createSqliteLocks(directory: string): PathLocks {
  fs.mkdirSync(directory, { recursive: true });
  return {
    async acquire(path, mode) {
      const held: DatabaseSync[] = [];
      const parts = path.split('/').filter(part => part !== '');
      const above = parts.map((_, index) => `/${parts.slice(0, index).join('/')}`);
      for (const directoryAbove of above) held.push(await lock(directory, directoryAbove, 'shared'));
      held.push(await lock(directory, path, mode));
      return ok(() => {
        for (const one of held) one.close();
      });
    },
  };
}

async function lock(directory: string, path: string, mode: LockMode): Promise<DatabaseSync> {
  const database = new DatabaseSync(`${directory}/${createHash('sha256').update(path).digest('hex')}.lock`);
  for (;;) {
    try {
      if (mode === 'exclusive') database.exec('BEGIN EXCLUSIVE');
      else database.exec('BEGIN; SELECT count(*) FROM sqlite_master');
      return database;
    } catch (cause) {
      if ((cause as { errcode?: number }).errcode !== SQLITE_BUSY) throw cause;
      if (database.isTransaction) database.exec('ROLLBACK');
      await new Promise(setImmediate);
    }
  }
}

const SQLITE_BUSY = 5;
