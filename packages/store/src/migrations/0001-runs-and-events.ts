import type { Migration } from './migrate.ts';

/**
 * Runs, and their events with the hash chain. Every other table names a run by its short number `n`. What changes with
 * every commit is apart from the details, which may be large.
 */
export const runsAndEvents: Migration = {
  name: 'runs and events',
  sql: `
    create table runs (
      n integer primary key,
      id text not null unique,
      status text not null,
      phase text not null,
      name text not null,
      correlation_id text,
      origin_kind text,
      origin_run text,
      epoch integer not null,
      version integer not null,
      frames integer not null,
      input_seq integer not null,
      next_seq integer not null,
      head text not null,
      created_at text not null,
      updated_at text not null,
      started_at text,
      ended_at text
    ) strict;
    create index runs_by_status on runs (status, id);
    create index runs_by_origin on runs (origin_run) where origin_run is not null;

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

    -- The version of a run keeps its driver from committing twice; what comes from others is known by \`outside_id\`.
    -- \`place\` is the run's number times 2^28 plus \`seq\`: a run's events are one range of rows, added at its end.
    create table events (
      place integer primary key,
      event any not null,
      hash blob not null,
      outside_id text
    ) strict;
    create unique index events_from_outside on events (outside_id) where outside_id is not null`,
};
