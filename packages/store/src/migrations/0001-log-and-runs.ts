import type { Migration } from './migrate.ts';

/**
 * The log and its runs. Records are the truth; every other table except `stream` follows from them. Tables name a run by its short number
 * `n`. Columns that change with every commit are separate from the details, which may be large.
 */
export const logAndRuns: Migration = {
  name: 'log and runs',
  sql: `
    create table runs (
      n integer primary key,
      id text not null unique,
      status text not null,
      phase text not null,
      name text not null,
      correlation_id text,
      idempotency_key text,
      origin_kind text,
      origin_run text,
      epoch integer not null,
      version integer not null,
      frames integer not null,
      input_seq integer not null,
      next_seq integer not null,
      records integer not null,
      head text not null,
      created_at text not null,
      updated_at text not null,
      started_at text,
      ended_at text
    ) strict;
    create index runs_by_status on runs (status, id);
    create index runs_by_origin on runs (origin_run) where origin_run is not null;
    create unique index runs_by_idempotency_key on runs (idempotency_key) where idempotency_key is not null;

    -- A JSON column holds its text or, where that is large, the 32 bytes that name its blob.
    create table run_details (
      run integer primary key references runs (n),
      details any not null
    ) strict;

    create table run_tags (
      run integer not null references runs (n),
      tag text not null,
      primary key (run, tag)
    ) strict, without rowid;
    create index run_tags_by_tag on run_tags (tag, run);

    -- \`place\` is the run's number times 2^28 plus the record's: the log of a run is one range of rows, added at its end.
    -- \`seq\` is that of the record's first event. A body is its text, or its text compressed.
    create table records (
      place integer primary key,
      seq integer not null,
      header text not null,
      body any not null,
      hash blob not null
    ) strict;

    -- The version of a run keeps its driver from committing twice; what comes from others is known by its events' ids.
    create table outside_events (
      id text primary key,
      run integer not null references runs (n)
    ) strict, without rowid;
    create index outside_events_by_run on outside_events (run)`,
};
