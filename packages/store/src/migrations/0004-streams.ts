import type { Migration } from './migrate.ts';

/** Agent output while it works. Tokens are not facts and are in no record; messages and tool calls follow from the log. */
export const streams: Migration = {
  name: 'streams',
  sql: `
    create table stream (
      run integer not null references runs (n),
      task text not null,
      idx integer not null,
      kind text not null,
      payload any not null,
      at text not null,
      primary key (run, task, idx)
    ) strict, without rowid`,
};
