import type { GuidedRuns } from '@signalbox/app/guided';
import type { RunHost, TurnArtifact } from '@signalbox/app/runs';
import {
  type ArtifactId,
  artifactId,
  type artifactsQuery,
  type ErrorEnvelope,
  err,
  ok,
  type Result,
  type RunId,
  type WireArtifact,
} from '@signalbox/model';
import type * as z from 'zod';
import { invalid } from '../http/answer.ts';
import { badCursor, type ListPage, mergedPage, type PartList, pageOf } from '../routes/paging.ts';
import { artifactView, turnView } from './artifact-view.ts';

export type ArtifactsAsked = z.infer<typeof artifactsQuery>;
type Host = Pick<RunHost, 'reader' | 'inspection'>;
type Page = Result<ListPage<WireArtifact>, ErrorEnvelope>;

/** As many of those that are made when they are asked for are on a page. */
const MADE_AT_ONCE = 60;

/** What runs of plans kept and what was handed in on guided runs as one list, newest first; of one run also what follows from its turns. */
export async function listArtifacts(host: Host, guided: GuidedRuns | undefined, asked: ArtifactsAsked): Promise<Page> {
  const { run, turns, node, task } = asked;
  const isOfTurns = turns !== undefined || node !== undefined || task !== undefined;
  if (isOfTurns && run === undefined) {
    return err(invalid('"turns", "node" and "task" are asked of one run; say which with "run"'));
  }
  if (isOfTurns && run !== undefined) return turnsOf(host, run, asked);
  return mergedPage(
    {
      left: keptArtifacts(host, asked),
      right: handedIn(guided, asked),
      isLeftFirst: (kept, given) => kept.createdAt >= given.createdAt,
    },
    asked,
  );
}

function keptArtifacts({ reader }: Host, { run, kind, key, versions }: ArtifactsAsked): PartList<WireArtifact> {
  return {
    async read(after, limit) {
      const from = artifactId.optional().safeParse(after);
      if (!from.success || (from.data !== undefined && (await reader.artifact(from.data)) === undefined)) {
        return err(badCursor());
      }
      const { items } = await reader.artifactList({
        limit,
        ...(run !== undefined && { run }),
        ...(kind !== undefined && { kind }),
        ...(key !== undefined && { key }),
        ...(versions !== undefined && { versions }),
        ...(from.data !== undefined && { after: from.data }),
      });
      return ok(items.map(({ run: of, artifact }) => artifactView(of, artifact)));
    },
    cursorOf: ({ id }) => id,
  };
}

/** None of them has a key. The cursor is a moment and an id: it holds while sessions come and go. */
function handedIn(guided: GuidedRuns | undefined, { run, kind, key }: ArtifactsAsked): PartList<WireArtifact> {
  return {
    async read(after, limit) {
      const from = after === undefined ? undefined : /^(\d{4}-[\dT:.-]+Z)!([0-9a-f-]{36})$/.exec(after);
      if (from === null) return err(badCursor());
      const all = key === undefined && guided !== undefined ? guided.artifacts(run) : ok([]);
      if (!all.ok) return all;
      const [, at = '', id = ''] = from ?? [];
      const rest = all.value.filter(
        one => from === undefined || one.createdAt < at || (one.createdAt === at && one.id < id),
      );
      return ok(rest.filter(one => kind === undefined || one.kind === kind).slice(0, limit));
    },
    cursorOf: ({ createdAt, id }) => `${createdAt}!${id}`,
  };
}

/** Newest first, whether it was kept or follows from a turn. Of what follows only a page is made. */
async function turnsOf({ reader, inspection: { turns } }: Host, run: RunId, asked: ArtifactsAsked): Promise<Page> {
  const { node, task, kind, key, after, limit = MADE_AT_ONCE } = asked;
  const derived = asked.turns === undefined || key !== undefined ? [] : await turns.list(run, node);
  const kept = asked.turns === 'only' ? [] : await allKept(reader, run, asked);
  const all: readonly (WireArtifact | TurnArtifact)[] = [
    ...derived,
    ...kept.filter(one => node === undefined || one.node === node),
  ]
    .filter(one => (kind === undefined || one.kind === kind) && (task === undefined || one.task === task))
    .sort((a, b) => (a.createdAt > b.createdAt ? -1 : a.createdAt < b.createdAt ? 1 : 0));
  const page = pageOf(all, { after, limit: Math.min(limit, MADE_AT_ONCE) }, ({ id }) => id);
  if (!page.ok) return page;
  const items: WireArtifact[] = [];
  for (const one of page.value.items) {
    if ('ref' in one) {
      items.push(one);
      continue;
    }
    const made = await turns.read(one);
    if (!made.ok) return made;
    items.push(turnView(made.value));
  }
  return ok({ ...page.value, items });
}

const KEPT_PAGE = 500;

async function allKept(
  reader: Host['reader'],
  run: RunId,
  { key, versions }: ArtifactsAsked,
): Promise<readonly WireArtifact[]> {
  const found: WireArtifact[] = [];
  for (let after: ArtifactId | undefined, isMore = true; isMore; isMore = after !== undefined) {
    const page = await reader.artifactList({
      run,
      limit: KEPT_PAGE,
      ...(key !== undefined && { key }),
      ...(versions !== undefined && { versions }),
      ...(after !== undefined && { after }),
    });
    found.push(...page.items.map(({ artifact }) => artifactView(run, artifact)));
    after = page.next;
  }
  return found;
}
