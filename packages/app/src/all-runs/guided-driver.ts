import type { GuidedRuns } from '@signalbox/guided';
import { type ErrorEnvelope, err, ok, type Result, type RunSummary, type WireDecision } from '@signalbox/model';
import { guidedEvents } from '../contract-view/event-page.ts';
import { badCursor, type PartList } from './paging.ts';
import { listed } from './plan-driver.ts';
import type { ArtifactsAsked, DecisionsAsked, ListedArtifact, RunDriver, RunsAsked } from './run-driver.ts';

/** The runs of guided sessions, which external agents walk. */
export function guidedDriver(guided: GuidedRuns): RunDriver {
  return {
    kind: 'guided',
    runs: asked =>
      newestFirst(() => {
        const all = guided.list();
        return all.ok ? ok(all.value.filter(run => isAskedFor(run, asked))) : all;
      }),
    find: async run => guided.find(run),
    show: async run => guided.show(run),
    async events(run, asked) {
      const known = guided.find(run);
      return known.ok && known.value !== undefined
        ? guidedEvents(guided, run, asked)
        : known.ok
          ? ok(undefined)
          : known;
    },
    artifacts: asked => newestFirst(() => artifactsOf(guided, asked)),
    async artifact(id) {
      const all = guided.artifacts();
      if (!all.ok) return all;
      const artifact = all.value.find(one => one.id === id);
      return ok(artifact && { artifact, content: async () => guided.content(artifact) });
    },
    decisions: asked => decisionsOf(guided, asked),
    decision: async id => guided.decision(id),
    answer: (id, { resolution, proposalHash }) => guided.answer(id, resolution, proposalHash),
  };
}

/** The cursor is a time and an id: it stays valid while sessions come and go. */
function newestFirst<Item extends { readonly id: string; readonly createdAt: string }>(
  all: () => Result<readonly Item[], ErrorEnvelope>,
): PartList<Item> {
  return {
    async read(after, limit) {
      const from = after === undefined ? undefined : /^(\d{4}-[\dT:.-]+Z)!([0-9a-f-]{36})$/.exec(after);
      if (from === null) return err(badCursor());
      const items = all();
      if (!items.ok) return items;
      const [, at = '', id = ''] = from ?? [];
      const rest = items.value.filter(
        one => from === undefined || one.createdAt < at || (one.createdAt === at && one.id < id),
      );
      return ok(rest.slice(0, limit));
    },
    cursorOf: ({ createdAt, id }) => `${createdAt}!${id}`,
  };
}

/** The working directory of a guided run's agent is unknown: none is found by directory. */
function isAskedFor({ record, createdAt }: RunSummary, asked: RunsAsked): boolean {
  const { status, name, tag, correlationId, since, until, entry, directory } = asked;
  return (
    (status === undefined || status.includes(record.status)) &&
    (name === undefined || record.name === name) &&
    (tag === undefined || record.tags.includes(tag)) &&
    correlationId === undefined &&
    directory === undefined &&
    (since === undefined || createdAt >= since) &&
    (until === undefined || createdAt < until) &&
    (entry === undefined || record.entry === entry)
  );
}

/** Handed-in artifacts have no key, belong to no task of ours, and are not turns. */
function artifactsOf(
  guided: GuidedRuns,
  { run, kind, key, node, task, turns }: ArtifactsAsked,
): Result<readonly ListedArtifact[], ErrorEnvelope> {
  if (key !== undefined || node !== undefined || task !== undefined || turns === 'only') return ok([]);
  const all = guided.artifacts(run);
  if (!all.ok) return all;
  return ok(all.value.filter(one => kind === undefined || one.kind === kind).map(listed));
}

function decisionsOf(guided: GuidedRuns, { run, status = 'open' }: DecisionsAsked): PartList<WireDecision> {
  return {
    async read(after, limit) {
      const all = guided.decisions();
      if (!all.ok) return all;
      const from = after === undefined ? 0 : all.value.findIndex(({ approvalId: id }) => id === after) + 1;
      if (after !== undefined && from === 0) return err(badCursor());
      const found = all.value
        .slice(from)
        .filter(
          one => (run === undefined || one.runId === run) && (status === 'all' || one.decision.status === status),
        );
      return ok(found.slice(0, limit));
    },
    cursorOf: ({ approvalId: id }) => id,
  };
}
