import type { Migration } from './migrate.ts';

/** Lists are ordered by what logs say, not by number: numbers differ in a database that was rebuilt from journals. */
export const listsOfRuns: Migration = {
  name: 'lists of runs',
  sql: 'create index runs_by_creation on runs (created_at, id)',
};
