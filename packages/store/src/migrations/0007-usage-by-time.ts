import type { Migration } from './migrate.ts';

/** What was spent since a moment is added up before calls of models: the index has all that it needs. */
export const usageByTime: Migration = {
  name: 'usage by time',
  sql: 'create index usage_by_time on usage (at, run, input_tokens, output_tokens, cost_micro_usd)',
};
