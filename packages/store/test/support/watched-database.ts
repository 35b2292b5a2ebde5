import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { Bug } from '@signalbox/model';
import type { StoreOptions } from '@signalbox/store';

/** The database of a store under test: its commits are seen, can be made to fail, and it can be changed behind its back. */
export interface WatchedDatabase {
  readonly connect: NonNullable<StoreOptions['connect']>;
  readonly database: () => DatabaseSync;
  /** Called instead of each COMMIT. */
  onCommit: (commit: () => void) => void;
}

export function watchedDatabase(): WatchedDatabase {
  let database: DatabaseSync | undefined;
  const watched: WatchedDatabase = {
    connect(path) {
      database = new Watched(path, { timeout: 0 });
      return database;
    },
    database() {
      if (database === undefined) throw new Bug('not opened yet');
      return database;
    },
    onCommit: commit => commit(),
  };

  class Watched extends DatabaseSync {
    override prepare(sql: string): StatementSync {
      const statement = super.prepare(sql);
      if (sql !== 'commit') return statement;
      const run = statement.run.bind(statement);
      statement.run = () => {
        watched.onCommit(() => void run());
        return { changes: 0, lastInsertRowid: 0 };
      };
      return statement;
    }
  }
  return watched;
}

/** The error that SQLite throws when the disk fails. */
export function diskBroke(): Error {
  return Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 10 });
}
