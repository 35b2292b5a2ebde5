/** A view for plans: its name and columns are stable, even if the tables below change. */
export interface View {
  readonly name: string;
  readonly select: string;
}

/** JSON columns are text. `value_of` assembles the last value of a key; `json_of` reads a column. */
export const views: readonly View[] = [
  {
    name: 'runs',
    select: `
      select id, name, status, phase, correlation_id, origin_kind, origin_run, frames, created_at, updated_at, started_at,
        ended_at, json_of(details) ->> '$.driver' as driver, json_of(details) -> '$.tags' as tags,
        json_of(details) -> '$.input' as input, json_of(details) -> '$.output' as output
      from main.runs join main.run_details on run_details.run = runs.n`,
  },
  {
    name: 'nodes',
    select: `
      select run_id, node, value ->> '$.kind' as kind, value ->> '$.parent' as parent, value ->> '$.index' as position,
        coalesce(record ->> '$.status', 'idle') as status, value -> '$.data' as data
      from (
        select runs.id as run_id, keys.key as node, value_of(last.run, 0, last.key, last.from_frame) as value,
          value_of(last.run, 1, last.key, 9007199254740991) as record
        from (${lastRows(0)}) as last join main.runs on runs.n = last.run
          join main.keys on keys.run = last.run and keys.number = last.key)`,
  },
  {
    name: 'state',
    select: `
      select runs.id as run_id, keys.key as key, value_of(last.run, 2, last.key, last.from_frame) as value
      from (${lastRows(2)}) as last join main.runs on runs.n = last.run
        join main.keys on keys.run = last.run and keys.number = last.key`,
  },
  {
    name: 'tasks',
    select: `
      select runs.id as run_id, tasks.id as id, node, iteration, tasks.status as status, effects, retry_count, max_retries,
        next_retry_at, block_reason, json_of(last_error) as last_error, json_of(result) as result, handled_frame,
        tasks.created_at as created_at, tasks.started_at as started_at, tasks.ended_at as ended_at
      from main.tasks join main.runs on runs.n = tasks.run`,
  },
  {
    name: 'decisions',
    select: `
      select runs.id as run_id, decisions.id as id, node, iteration, call, kind, json_of(proposal) as proposal,
        proposal_hash, asked_at, decisions.status as status, json_of(resolution) as resolution, answered_by, closed_at,
        delivered_at
      from main.decisions join main.runs on runs.n = decisions.run`,
  },
  {
    name: 'artifacts',
    select: `
      select runs.id as run_id, artifacts.id as id, node, task, kind, artifacts.name as name, digest, bytes, mime_type,
        content, artifacts.created_at as created_at, key, artifacts.version as version, alt, workstream,
        artifacts.status as status, json_of(provenance) as provenance
      from main.artifacts join main.runs on runs.n = artifacts.run`,
  },
  {
    name: 'usage',
    select: `
      select runs.id as run_id, call, node, task, provider, model, input_tokens, output_tokens, cached_tokens, tool_calls,
        cost_micro_usd, wall_ms, at
      from main.usage join main.runs on runs.n = usage.run`,
  },
];

/** The last row of every key that still exists. */
function lastRows(space: number): string {
  return `
    select run, key, from_frame from main.intervals as row where space = ${space} and kind <> 2 and from_frame = (
      select max(from_frame) from main.intervals as newer
      where newer.run = row.run and newer.space = ${space} and newer.key = row.key)`;
}
