import type { Migration } from './migrate.ts';

/** Versions of one key are found by it and are no two the same; pictures say what they show. */
export const artifactVersions: Migration = {
  name: 'artifact versions',
  sql: `
    alter table artifacts add column alt text;
    create unique index artifacts_by_key on artifacts (run, key, version) where key is not null and version is not null`,
};
