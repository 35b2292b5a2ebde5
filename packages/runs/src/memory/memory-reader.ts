import type { Json, RunId } from '@signalbox/model';
import { DEFAULT_PAGE, type RunFilter, type RunReader } from '../reader.ts';
import type { RunRecord } from '../run/run-record.ts';
import { isTaskUnderWay } from '../tasks/task-lifecycle.ts';
import { inOrder, spendingOfCall, sumSpending } from '../usage/spending.ts';
import { addUsage, NO_USAGE } from '../usage/stop-check.ts';
import type { UsageTotal } from '../usage/usage.ts';
import { type KeptRun, valueKey } from './kept-run.ts';

export function memoryReader(runs: ReadonlyMap<RunId, KeptRun>): RunReader {
  const oldestFirst = () =>
    [...runs.values()]
      .map(({ record }) => record)
      .sort((a, b) => inOrder(a.createdAt, b.createdAt) || inOrder(a.id, b.id));

  function treeUsage(run: RunId): UsageTotal {
    const own = [...(runs.get(run)?.usage.values() ?? [])].reduce(addUsage, NO_USAGE);
    return [...runs.values()]
      .filter(({ record }) => record.origin?.kind === 'sub-plan' && record.origin.run === run)
      .map(child => treeUsage(child.record.id))
      .reduce(addUsage, own);
  }

  return {
    run: async run => runs.get(run)?.record,
    async runs({ after, limit = DEFAULT_PAGE, ...filter } = {}) {
      const all = oldestFirst().reverse();
      const found = all
        .slice(after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1)
        .filter(record => isAskedFor(record, filter));
      const items = found.slice(0, limit);
      const last = items.at(-1);
      return found.length > items.length && last !== undefined ? { items, next: last.id } : { items };
    },
    children: async run => oldestFirst().filter(record => record.origin?.run === run),

    frame: async (run, index) => runs.get(run)?.frames[index],
    frames: async (run, from, limit) => runs.get(run)?.frames.slice(from, from + limit) ?? [],
    async at(run, space, frame) {
      const found = new Map<string, Json>();
      for (const [place, rows] of runs.get(run)?.values ?? []) {
        const [ofSpace, key = ''] = JSON.parse(place) as [string, string];
        const value = rows.findLast(row => row.fromFrame <= frame)?.value;
        if (ofSpace === space && value !== undefined) found.set(key, value);
      }
      return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
    },
    valueAt: async (run, space, key, frame) =>
      runs
        .get(run)
        ?.values.get(valueKey(space, key))
        ?.findLast(row => row.fromFrame <= frame)?.value,
    async transitions(run, { key, from = { frame: 0, index: 0 }, limit = DEFAULT_PAGE } = {}) {
      const found = (runs.get(run)?.transitions ?? [])
        .filter(transition => key === undefined || transition.key === key)
        .filter(({ frame, index }) => frame > from.frame || (frame === from.frame && index >= from.index))
        .sort((a, b) => a.frame - b.frame || a.index - b.index);
      const next = found[limit];
      const items = found.slice(0, limit);
      return next === undefined ? { items } : { items, next: { frame: next.frame, index: next.index } };
    },

    records: async (run, from, limit) => runs.get(run)?.log.slice(from, from + limit) ?? [],
    events: async (run, from, limit) => runs.get(run)?.events.slice(from, from + limit) ?? [],

    task: async (run, task) => runs.get(run)?.tasks.get(task),
    async tasks(run, { status, node, effects, after, limit } = {}) {
      const all = [...(runs.get(run)?.tasks.values() ?? [])];
      return pageAfter(all, after, ({ id }) => id)
        .filter(
          task =>
            (status === undefined || status.includes(task.status)) &&
            (node === undefined || task.node === node) &&
            (effects === undefined || effects.includes(task.effects)),
        )
        .slice(0, limit);
    },
    orphans: async alive =>
      [...runs.values()].flatMap(({ record, tasks }) =>
        [...tasks.values()]
          .filter(({ status, leaseOwner }) => isTaskUnderWay(status) && !alive.some(owner => owner === leaseOwner))
          .map(task => ({ run: record.id, task })),
      ),

    stream: async (run, task, from, limit) =>
      [...(runs.get(run)?.streams.get(task)?.values() ?? [])]
        .filter(({ index }) => index >= from)
        .sort((a, b) => a.index - b.index)
        .slice(0, limit),
    async messageBefore(run, task, before) {
      const chunks = [...(runs.get(run)?.streams.get(task)?.values() ?? [])];
      const found = chunks.flatMap(({ kind, index }) => (kind === 'message' && index < before ? [index] : []));
      return found.length === 0 ? undefined : Math.max(...found);
    },

    async decision(id) {
      for (const { record, decisions } of runs.values()) {
        const decision = decisions.get(id);
        if (decision !== undefined) return { run: record.id, decision };
      }
      return undefined;
    },
    async decisions({ run, status, after, limit } = {}) {
      const all = [...runs.values()]
        .flatMap(({ record, decisions }) => [...decisions.values()].map(decision => ({ run: record.id, decision })))
        .sort((a, b) => inOrder(a.decision.askedAt, b.decision.askedAt) || inOrder(a.run, b.run));
      return pageAfter(all, after, ({ decision }) => decision.id)
        .filter(
          ({ run: ofRun, decision }) =>
            (run === undefined || ofRun === run) && (status === undefined || status.includes(decision.status)),
        )
        .slice(0, limit);
    },
    artifacts: async (run, { node, key } = {}) =>
      [...(runs.get(run)?.artifacts.values() ?? [])].filter(
        artifact => (node === undefined || artifact.node === node) && (key === undefined || artifact.key === key),
      ),
    async artifact(id) {
      for (const { record, artifacts } of runs.values()) {
        const artifact = artifacts.get(id);
        if (artifact !== undefined) return { run: record.id, artifact };
      }
      return undefined;
    },
    async artifactList({ run, kind, key, versions = 'last', after, limit = DEFAULT_PAGE } = {}) {
      const all = [...runs.values()].flatMap(({ record, artifacts }) =>
        [...artifacts.values()].map(artifact => ({ run: record.id, artifact })),
      );
      const sorted = all
        .toSorted((a, b) => inOrder(a.artifact.createdAt, b.artifact.createdAt) || inOrder(a.run, b.run))
        .reverse();
      const found = sorted
        .slice(after === undefined ? 0 : sorted.findIndex(({ artifact }) => artifact.id === after) + 1)
        .filter(({ run: ofRun, artifact }) => {
          const isLast =
            artifact.key === undefined ||
            !all.some(
              other =>
                other.run === ofRun &&
                other.artifact.key === artifact.key &&
                (other.artifact.version ?? 0) > (artifact.version ?? 0),
            );
          return (
            (run === undefined || ofRun === run) &&
            (kind === undefined || artifact.kind === kind) &&
            (key === undefined || artifact.key === key) &&
            (versions === 'all' || isLast)
          );
        })
        .map(({ run: ofRun, artifact: { content: _, ...artifact } }) => ({ run: ofRun, artifact }));
      const items = found.slice(0, limit);
      const last = items.at(-1);
      return found.length > items.length && last !== undefined ? { items, next: last.artifact.id } : { items };
    },
    usageOfTree: async run => treeUsage(run),
    spending: async ({ run, task, since } = {}) =>
      sumSpending(
        [...runs.values()]
          .filter(({ record }) => run === undefined || record.id === run)
          .flatMap(({ record, usage }) =>
            [...usage.values()]
              .filter(each => (since === undefined || each.at >= since) && (task === undefined || each.task === task))
              .map(each => spendingOfCall(each, record.workingDirectory)),
          ),
      ),
    spentByRun: async since =>
      [...runs.values()].flatMap(({ record, usage }) => {
        const calls = [...usage.values()].filter(({ at }) => at >= since);
        const sum = calls.reduce(addUsage, NO_USAGE);
        const tokens = sum.inputTokens + sum.outputTokens;
        return calls.length === 0 ? [] : [{ run: record.id, tokens, costMicroUsd: sum.costMicroUsd }];
      }),
  };
}

function isAskedFor(record: RunRecord, filter: RunFilter): boolean {
  const { status, name, tag, correlationId, idempotencyKey, since, until, entry, directory } = filter;
  return (
    (status === undefined || status.includes(record.status)) &&
    (name === undefined || record.name === name) &&
    (tag === undefined || record.tags.includes(tag)) &&
    (correlationId === undefined || record.correlationId === correlationId) &&
    (idempotencyKey === undefined || record.idempotencyKey === idempotencyKey) &&
    (since === undefined || record.createdAt >= since) &&
    (until === undefined || record.createdAt < until) &&
    (entry === undefined || record.source?.entry === entry) &&
    (directory === undefined || record.workingDirectory === directory)
  );
}

/** The items after the one with this id; empty if it does not exist. */
function pageAfter<Item>(all: readonly Item[], after: string | undefined, idOf: (item: Item) => string) {
  if (after === undefined) return all;
  const at = all.findIndex(item => idOf(item) === after);
  return at === -1 ? [] : all.slice(at + 1);
}
