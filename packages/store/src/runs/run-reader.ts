import type { DatabaseSync } from 'node:sqlite';
import { type RunId, runId } from '@signalbox/model';
import {
  DEFAULT_PAGE,
  isTaskUnderWay,
  type RunFilter,
  type RunReader,
  type RunRecord,
  sumSpending,
  type UsageTotal,
} from '@signalbox/runs';
import type { Row } from '../sqlite/row-codec.ts';
import { RUN_COLUMNS } from './run-rows.ts';
import type { RunTables } from './run-tables.ts';

/** Reads through the writing connection: between two groups it sees exactly what is committed. */
export function runReader(database: DatabaseSync, tables: RunTables): RunReader {
  const { runs, known, log, frames, intervals, transitions, records, streams } = tables;
  const listed = database.prepare(RUN_LIST);
  const listedByKey = database.prepare(listSql('idempotency_key = :idempotency_key and'));
  const children = database.prepare(
    `select ${RUN_COLUMNS} from runs join run_details on run_details.run = runs.n where origin_run = ?
     order by created_at, id`,
  );
  const number = database.prepare('select n from runs where id = ?');
  const tasksOfRun = database.prepare(tasksWhere('where'));
  const tasksUnderWay = database.prepare(UNDER_WAY);
  const underWay = database.prepare(ORPHANS);
  const decisionById = database.prepare(`
    select decisions.*, runs.id as run_id from decisions join runs on runs.n = decisions.run where decisions.id = ?`);
  const decisionList = database.prepare(DECISION_LIST);
  const decisionsOfRun = database.prepare(RUN_DECISIONS);
  const decisionsInStatus = database.prepare(STATUS_DECISIONS);
  const artifacts = database.prepare(`
    select * from artifacts where run = :run and (:node is null or node = :node) and (:key is null or key = :key)
    order by place`);
  const artifactById = database.prepare(`
    select artifacts.*, runs.id as run_id from artifacts join runs on runs.n = artifacts.run where artifacts.id = ?`);
  const artifactPage = database.prepare(ARTIFACT_PAGE);
  const usage = database.prepare(usageSql);
  const spending = database.prepare(SPENDING);
  const spentByRun = database.prepare(SPENT_BY_RUN);

  /** -1 matches no run. */
  const numberOf = (run: RunId): number => known.get(run)?.n ?? Number(number.get(run)?.n ?? -1);
  const runOf = (row: Row): RunId => runId.parse(row.run_id);

  return {
    run: async run => runs.find(run)?.record,
    async runs(filter = {}) {
      const limit = filter.limit ?? DEFAULT_PAGE;
      const parameters = { ...listParameters(filter), limit: limit + 1 };
      const { idempotencyKey: key } = filter;
      const found: RunRecord[] = [];
      for (let { after } = parameters; ; ) {
        const page = { ...parameters, after };
        const rows = key === undefined ? listed.all(page) : listedByKey.all({ ...page, idempotency_key: key });
        const read = rows.map(row => runs.fromRow(row).record);
        // The query does not see details that are stored in a blob.
        found.push(...read.filter(record => isFrom(record, filter)));
        if (rows.length <= limit || found.length > limit) break;
        after = read.at(-1)?.id ?? null;
      }
      const items = found.slice(0, limit);
      const last: RunRecord | undefined = items.at(-1);
      return found.length > limit && last !== undefined ? { items, next: last.id } : { items };
    },
    children: async run => children.all(run).map(row => runs.fromRow(row).record),

    frame: async (run, index) => frames.page(numberOf(run), index, 1).find(frame => frame.index === index),
    frames: async (run, from, limit) => frames.page(numberOf(run), from, limit),
    at: async (run, space, frame) => intervals.at(numberOf(run), space, frame),
    valueAt: async (run, space, key, frame) => intervals.valueAt(numberOf(run), space, key, frame),
    transitions: async (run, filter = {}) => transitions.page(numberOf(run), filter),

    records: async (run, from, limit) => [...log.records(numberOf(run), from, limit)],
    events: async (run, from, limit) => log.events(numberOf(run), from, limit),

    task: async (run, task) => records.task(numberOf(run), task),
    tasks: async (run, { status, node, effects, after, limit } = {}) =>
      (status?.every(isTaskUnderWay) === true ? tasksUnderWay : tasksOfRun)
        .all({
          run: numberOf(run),
          status: listOrNull(status),
          node: node ?? null,
          effects: listOrNull(effects),
          after: after ?? null,
          limit: limit ?? ALL,
        })
        .map(row => records.codecs.task.fromRow(row)),
    orphans: async alive =>
      underWay.all(JSON.stringify(alive)).map(row => ({ run: runOf(row), task: records.codecs.task.fromRow(row) })),

    stream: async (run, task, from, limit) => streams.from(numberOf(run), task, from, limit),
    messageBefore: async (run, task, index) => streams.messageBefore(numberOf(run), task, index),

    async decision(id) {
      const row = decisionById.get(id);
      return row && { run: runOf(row), decision: records.codecs.decision.fromRow(row) };
    },
    async decisions({ run, status, after, limit } = {}) {
      const parameters = { status: listOrNull(status), after: after ?? null, limit: limit ?? ALL };
      const ofAll = status === undefined ? decisionList : decisionsInStatus;
      const rows =
        run === undefined ? ofAll.all(parameters) : decisionsOfRun.all({ ...parameters, run: numberOf(run) });
      return rows.map(row => ({ run: runOf(row), decision: records.codecs.decision.fromRow(row) }));
    },
    artifacts: async (run, { node, key } = {}) =>
      artifacts
        .all({ run: numberOf(run), node: node ?? null, key: key ?? null })
        .map(row => records.codecs.artifact.fromRow(row)),
    async artifact(id) {
      const row = artifactById.get(id);
      return row && { run: runOf(row), artifact: records.codecs.artifact.fromRow(row) };
    },
    async artifactList({ run, kind, key, versions = 'last', after, limit = DEFAULT_PAGE } = {}) {
      const rows = artifactPage.all({
        run: run === undefined ? null : numberOf(run),
        kind: kind ?? null,
        key: key ?? null,
        versions,
        after: after ?? null,
        limit: limit + 1,
      });
      const found = rows.map(row => ({ run: runOf(row), artifact: records.codecs.artifact.fromRow(row) }));
      const items = found.slice(0, limit);
      const last = items.at(-1);
      return found.length > limit && last !== undefined ? { items, next: last.artifact.id } : { items };
    },
    usageOfTree: async run => totalOf(usage.get(run) ?? {}),
    spending: async ({ run, task, since } = {}) =>
      sumSpending(
        spending.all({ run: run ?? null, task: task ?? null, since: since ?? '' }).map(row => {
          const directory = runs.find(runOf(row))?.record.workingDirectory;
          return {
            day: String(row.day),
            ...(row.provider !== null && { provider: String(row.provider) }),
            ...(row.model !== null && { model: String(row.model) }),
            ...(directory !== undefined && { directory }),
            ...totalOf(row),
          };
        }),
      ),
    spentByRun: async since =>
      spentByRun.all(since).map(row => ({
        run: runOf(row),
        tokens: Number(row.tokens),
        costMicroUsd: Number(row.cost_micro_usd),
      })),
  };
}

function totalOf(row: Row): UsageTotal {
  return {
    calls: Number(row.calls),
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    cachedTokens: Number(row.cached_tokens),
    toolCalls: Number(row.tool_calls),
    costMicroUsd: Number(row.cost_micro_usd),
    wallMs: Number(row.wall_ms),
  };
}

const SPENDING = `
  select runs.id as run_id, substr(usage.at, 1, 10) as day, provider, model, count(*) as calls,
    sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens, sum(cached_tokens) as cached_tokens,
    sum(tool_calls) as tool_calls, sum(cost_micro_usd) as cost_micro_usd, sum(wall_ms) as wall_ms
  from usage join runs on runs.n = usage.run
  where usage.at >= :since and (:run is null or runs.id = :run) and (:task is null or usage.task = :task)
  group by usage.run, day, provider, model`;

/** Read before calls: all of it is in the index by time, which `+run` keeps the planner to. */
export const SPENT_BY_RUN = `
  select runs.id as run_id, tokens, cost_micro_usd from (
    select run, sum(input_tokens + output_tokens) as tokens, sum(cost_micro_usd) as cost_micro_usd
    from usage where at >= ? group by +run
  ) join runs on runs.n = run`;

/** The limit of an unbounded list. */
const ALL = -1;

const tasksWhere = (first: string) => `
  select * from tasks ${first} run = :run and (:status is null or status in (select value from json_each(:status)))
    and (:node is null or node = :node)
    and (:effects is null or effects in (select value from json_each(:effects)))
    and (:after is null or place > (select place from tasks where run = :run and id = :after)) order by place limit :limit`;

/** The tasks of a run that are under way, through an index of only those: whoever watches a run asks for them all the time. */
export const UNDER_WAY = tasksWhere("indexed by tasks_under_way where status in ('running', 'canceling') and");

/** Finds running tasks through an index of only those. */
export const ORPHANS = `
  select tasks.*, runs.id as run_id from tasks indexed by tasks_under_way join runs on runs.n = tasks.run
  where tasks.status in ('running', 'canceling')
    and (lease_owner is null or lease_owner not in (select value from json_each(?))) order by place`;

const decisionsWhere = (first: string) => `
  select decisions.*, runs.id as run_id from decisions join runs on runs.n = decisions.run
  where ${first} (:status is null or decisions.status in (select value from json_each(:status)))
    and (:after is null or (asked_at, runs.id, place) > (
      select asked_at, runs.id, place from decisions join runs on runs.n = decisions.run where decisions.id = :after))
  order by asked_at, runs.id, place limit :limit`;

const DECISION_LIST = decisionsWhere('');

/** Apart from the list, so that it seeks the run and does not look at those of all others. */
export const RUN_DECISIONS = decisionsWhere('decisions.run = :run and');

/** Apart for the same reason: a server asks for the few open ones whenever a run changes. */
export const STATUS_DECISIONS = decisionsWhere('decisions.status in (select value from json_each(:status)) and');

/** Contents are not read, so a list of many artifacts stays small. */
export const ARTIFACT_PAGE = `
  select runs.id as run_id, artifacts.id, node, task, kind, artifacts.name, digest, bytes, mime_type, null as content,
    artifacts.created_at, key, artifacts.version, alt, workstream, artifacts.status, provenance, diff
  from artifacts join runs on runs.n = artifacts.run
  where (:run is null or artifacts.run = :run) and (:kind is null or kind = :kind) and (:key is null or key = :key)
    and (:versions = 'all' or key is null or artifacts.version is null or artifacts.version = (
      select max(version) from artifacts as versions where versions.run = artifacts.run and versions.key = artifacts.key
        and versions.version is not null))
    and (:after is null or (artifacts.created_at, runs.id, place) < (
      select artifacts.created_at, runs.id, place from artifacts join runs on runs.n = artifacts.run
      where artifacts.id = :after))
  order by artifacts.created_at desc, runs.id desc, place desc limit :limit`;

const listSql = (first: string) => `
  select ${RUN_COLUMNS} from runs join run_details on run_details.run = runs.n
  where ${first} (:status is null or status in (select value from json_each(:status)))
    and (:name is null or name = :name)
    and (:correlation_id is null or correlation_id = :correlation_id)
    and (:tag is null or exists (select 1 from run_tags where run_tags.run = runs.n and tag = :tag))
    and (:since is null or created_at >= :since) and (:until is null or created_at < :until)
    and (:entry is null or typeof(details) = 'blob' or details ->> '$.source.entry' = :entry)
    and (:directory is null or typeof(details) = 'blob' or details ->> '$.workingDirectory' = :directory)
    and (:after is null or (created_at, id) < (select created_at, id from runs where id = :after))
  order by created_at desc, id desc limit :limit`;

export const RUN_LIST = listSql('');

const usageSql = `
  with recursive tree (n, id) as (
    select n, id from runs where id = ?
    union
    select runs.n, runs.id from runs join tree on runs.origin_run = tree.id where runs.origin_kind = 'sub-plan'
  )
  select count(*) as calls, coalesce(sum(input_tokens), 0) as input_tokens,
    coalesce(sum(output_tokens), 0) as output_tokens, coalesce(sum(cached_tokens), 0) as cached_tokens,
    coalesce(sum(tool_calls), 0) as tool_calls, coalesce(sum(cost_micro_usd), 0) as cost_micro_usd,
    coalesce(sum(wall_ms), 0) as wall_ms
  from usage join tree on usage.run = tree.n`;

function isFrom({ source, workingDirectory }: RunRecord, { entry, directory }: RunFilter): boolean {
  return (
    (entry === undefined || source?.entry === entry) && (directory === undefined || workingDirectory === directory)
  );
}

function listParameters({ status, name, tag, correlationId, since, until, entry, directory, after }: RunFilter) {
  return {
    status: listOrNull(status),
    name: name ?? null,
    tag: tag ?? null,
    correlation_id: correlationId ?? null,
    since: since ?? null,
    until: until ?? null,
    entry: entry ?? null,
    directory: directory ?? null,
    after: after ?? null,
  };
}

function listOrNull(values: readonly string[] | undefined): string | null {
  return values === undefined ? null : JSON.stringify(values);
}
