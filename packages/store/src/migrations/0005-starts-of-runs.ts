import type { Migration } from './migrate.ts';

/**
 * Runs are found by the key of their start, and two starts cannot share one. Sources name the folder that their files'
 * paths start from: it is what the entry has before its own path.
 */
export const startsOfRuns: Migration = {
  name: 'starts of runs',
  sql: `
    alter table runs add column idempotency_key text;
    create unique index runs_by_idempotency_key on runs (idempotency_key) where idempotency_key is not null;

    update run_details set details = json_set(details, '$.source.root', (
      select substr(entry, 1, length(entry) - length(path) - 1) from (
        select details ->> '$.source.entry' as entry, file.value ->> '$.path' as path
        from json_each(details, '$.source.files') as file
      ) where substr(entry, -length(path) - 1) in ('/' || path, '\\' || path)
      order by length(path) desc limit 1))
    where typeof(details) = 'text' and details ->> '$.source.entry' is not null`,
};
