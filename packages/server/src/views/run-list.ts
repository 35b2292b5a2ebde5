import type { GuidedRuns } from '@signalbox/app/guided';
import type { RunHost } from '@signalbox/app/runs';
import { type ErrorEnvelope, err, ok, type Result, type RunSummary, runId, type runsQuery } from '@signalbox/model';
import type * as z from 'zod';
import { badCursor, type ListPage, mergedPage, type PartList } from '../routes/paging.ts';
import { summariesOf } from './run-view.ts';

export type RunsAsked = z.infer<typeof runsQuery>;

/** Runs of plans and guided runs as one list, newest first. */
export function listRuns(
  host: Pick<RunHost, 'reader' | 'driven'>,
  guided: GuidedRuns | undefined,
  asked: RunsAsked,
): Promise<Result<ListPage<RunSummary>, ErrorEnvelope>> {
  const { kind } = asked;
  return mergedPage(
    {
      left: kind === 'guided' ? noRuns : planRuns(host, asked),
      right: kind === 'plan' || guided === undefined ? noRuns : guidedRuns(guided, asked),
      isLeftFirst: (plan, run) => plan.createdAt >= run.createdAt,
    },
    asked,
  );
}

const noRuns: PartList<RunSummary> = {
  read: async after => (after === undefined ? ok([]) : err(badCursor())),
  cursorOf: ({ id }) => id,
};

function planRuns(host: Pick<RunHost, 'reader' | 'driven'>, asked: RunsAsked): PartList<RunSummary> {
  const { kind: _, after: __, limit: ___, ...filter } = asked;
  return {
    async read(after, limit) {
      const from = runId.optional().safeParse(after);
      if (!from.success || (from.data !== undefined && (await host.reader.run(from.data)) === undefined)) {
        return err(badCursor());
      }
      const page = await host.reader.runs(withoutUndefined({ ...filter, after: from.data, limit }));
      return ok(await summariesOf(host, page.items));
    },
    cursorOf: ({ id }) => id,
  };
}

/** The cursor is a moment and an id: it holds while sessions come and go. */
function guidedRuns(guided: GuidedRuns, asked: RunsAsked): PartList<RunSummary> {
  return {
    async read(after, limit) {
      const from = after === undefined ? undefined : /^(\d{4}-[\dT:.-]+Z)!([0-9a-f-]{36})$/.exec(after);
      if (from === null) return err(badCursor());
      const listed = guided.list();
      if (!listed.ok) return listed;
      const [, at = '', id = ''] = from ?? [];
      const rest = listed.value.filter(
        run => from === undefined || run.createdAt < at || (run.createdAt === at && run.id < id),
      );
      return ok(rest.filter(run => isAskedFor(run, asked)).slice(0, limit));
    },
    cursorOf: ({ createdAt, id }) => `${createdAt}!${id}`,
  };
}

/** Where agents of a guided run work is not ours to know: none is found by its directory. */
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

type Present<T> = { [Key in keyof T]: Exclude<T[Key], undefined> };

/** Filters tell an absent field from one that is undefined. */
function withoutUndefined<T extends object>(fields: T): Partial<Present<T>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Present<T>>;
}
