import type { Migration } from './migrate.ts';

/**
 * Frames, the values that hold from a frame on, transitions and tasks. A change of kind 0 is a whole value, 1 a patch, 2 the end of a
 * value. A patch stores the size of the last whole value and of all patches since, itself included.
 */
export const framesAndTasks: Migration = {
  name: 'frames and tasks',
  sql: `
    -- \`place\` is the run's number times 2^28 plus the frame's index.
    create table frames (
      place integer primary key,
      frame any not null
    ) strict;

    create table keys (
      run integer not null references runs (n),
      number integer not null,
      key text not null,
      primary key (run, number)
    ) strict, without rowid;
    create unique index keys_by_name on keys (run, key);

    -- \`key\` is the number of a key.
    create table intervals (
      run integer not null references runs (n),
      space integer not null,
      key integer not null,
      from_frame integer not null,
      kind integer not null,
      value any,
      base_bytes integer,
      chain_bytes integer,
      primary key (run, space, key, from_frame)
    ) strict, without rowid;

    create table transitions (
      run integer not null references runs (n),
      frame integer not null,
      idx integer not null,
      key text not null,
      kind integer not null,
      value any,
      base_bytes integer,
      chain_bytes integer,
      trigger text,
      node text,
      handler text,
      at text not null,
      primary key (run, frame, idx)
    ) strict, without rowid;
    create index transitions_by_key on transitions (run, key, frame, idx);

    -- \`place\` is the run's number times 2^28 plus the task's among those of its run, in the order they were made.
    create table tasks (
      place integer primary key,
      run integer not null references runs (n),
      id text not null,
      node text not null,
      iteration integer not null,
      signature text not null,
      status text not null,
      effects text not null,
      lease_owner text,
      lease_expires_at text,
      heartbeat_at text,
      retry_count integer not null,
      max_retries integer not null,
      backoff_ms integer not null,
      next_retry_at text,
      last_error any,
      block_reason text,
      result any,
      handled_frame integer,
      created_at text not null,
      started_at text,
      ended_at text,
      unique (run, id)
    ) strict;
    create index tasks_under_way on tasks (run, place) where status in ('running', 'canceling')`,
};
