import type { Migration } from './migrate.ts';

/**
 * The logs of projects. `projects` and `things` follow from `project_records`. A thing is a place in the log: its value is in that record
 * and nowhere else. `project_states` is a cache.
 */
export const projects: Migration = {
  name: 'projects',
  sql: `
    create table projects (
      n integer primary key,
      id text not null unique,
      records integer not null,
      head text not null,
      created_at text not null,
      updated_at text not null
    ) strict;

    create table project_records (
      project integer not null references projects (n),
      n integer not null,
      header text not null,
      body any not null,
      hash blob not null,
      primary key (project, n)
    ) strict;

    create table things (
      project integer not null references projects (n),
      kind text not null,
      id text not null,
      agent text,
      status text,
      record integer not null,
      part integer not null,
      primary key (project, kind, id)
    ) strict, without rowid;
    create index things_by_place on things (project, kind, record, part);
    create index things_by_agent on things (project, agent, kind, record, part) where agent is not null;
    create index things_by_status on things (project, kind, status, record, part) where status is not null;

    create table project_states (
      project integer primary key references projects (n),
      records integer not null,
      head text not null,
      state any not null
    ) strict`,
};
