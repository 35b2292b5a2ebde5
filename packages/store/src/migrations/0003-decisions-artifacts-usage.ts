import type { Migration } from './migrate.ts';

/** Decisions, artifacts and usage. A `place` works as in tasks. */
export const decisionsArtifactsUsage: Migration = {
  name: 'decisions, artifacts and usage',
  sql: `
    create table decisions (
      place integer primary key,
      run integer not null references runs (n),
      id text not null unique,
      node text not null,
      iteration integer not null,
      call text not null,
      kind text not null,
      proposal any not null,
      proposal_hash text not null,
      asked_at text not null,
      status text not null,
      resolution any,
      answered_by text,
      closed_at text,
      delivered_at text,
      unique (run, node, iteration, call)
    ) strict;
    create index decisions_by_status on decisions (status, asked_at);

    create table artifacts (
      place integer primary key,
      run integer not null references runs (n),
      id text not null unique,
      node text,
      task text,
      kind text not null,
      name text not null,
      digest text not null,
      bytes integer not null,
      mime_type text not null,
      content text,
      created_at text not null,
      key text,
      version integer,
      alt text,
      workstream text,
      status text,
      provenance any,
      diff any
    ) strict;
    create index artifacts_by_time on artifacts (created_at, place);
    create index artifacts_by_run on artifacts (run, place);
    create unique index artifacts_by_key on artifacts (run, key, version) where key is not null and version is not null;

    create table usage (
      run integer not null references runs (n),
      call text not null,
      node text,
      task text,
      provider text,
      model text,
      input_tokens integer not null,
      output_tokens integer not null,
      cached_tokens integer not null,
      tool_calls integer not null,
      cost_micro_usd integer not null,
      wall_ms integer not null,
      at text not null,
      primary key (run, call)
    ) strict, without rowid`,
};
