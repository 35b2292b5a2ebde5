import type { GuidedRuns } from '@signalbox/app/guided';
import {
  type ArtifactRecord,
  contractNodeId,
  type ReadTurnArtifact,
  type RunHost,
  readArtifact,
  type TurnArtifact,
  unknownArtifact,
} from '@signalbox/app/runs';
import {
  type ArtifactId,
  type ArtifactList,
  artifactId,
  artifactRefOf,
  artifactsQuery,
  type ErrorEnvelope,
  err,
  ok,
  type Result,
  type RunId,
  type WireArtifact,
} from '@signalbox/model';
import { type Context, Hono } from 'hono';
import type * as z from 'zod';
import { answer, invalid, readQuery, refuse } from '../http/answer.ts';
import { contentHeaders } from '../http/content-headers.ts';
import { rangeOf } from '../http/content-range.ts';
import { badCursor, pageOf } from './paging.ts';

/** As many of those that are made when they are asked for are on a page. */
const MADE_AT_ONCE = 60;

/** What runs keep for people to see, and what follows from the turns of agents where that is asked for. What was handed in on a guided run is found by its id, and listed with its run. */
export function artifactRoutes(
  { reader, blobs, inspection: { turns } }: Pick<RunHost, 'reader' | 'blobs' | 'inspection'>,
  guided?: GuidedRuns,
): Hono {
  const routes = new Hono();

  routes.get('/', async context => {
    const query = readQuery(context, artifactsQuery);
    if (!query.ok) return refuse(context, query.error);
    const given = Object.fromEntries(Object.entries(query.value).filter(([, value]) => value !== undefined));
    const { after, run, limit, kind, key } = query.value;
    const isOfOneRun = [query.value.turns, query.value.node, query.value.task].some(one => one !== undefined);
    if (run === undefined && isOfOneRun) {
      return refuse(context, invalid('"turns", "node" and "task" are asked of one run; say which with "run"'));
    }
    const handedIn = run === undefined ? undefined : guided?.artifacts(run);
    if (handedIn?.ok === false) return refuse(context, handedIn.error);
    if (handedIn !== undefined && handedIn.value.length > 0) {
      const wanted = handedIn.value.filter(one => key === undefined && (kind === undefined || one.kind === kind));
      const page = pageOf(wanted, { after, limit }, ({ id }) => id);
      if (!page.ok) return refuse(context, page.error);
      const nextId = artifactId.optional().parse(page.value.next);
      const found: ArtifactList = { artifacts: page.value.items, ...(nextId !== undefined && { next: nextId }) };
      return context.json(found);
    }
    if (run !== undefined && isOfOneRun) {
      return answer(context, await listOfRun(run, query.value));
    }
    if (after !== undefined && (await reader.artifact(after)) === undefined) return refuse(context, badCursor());
    const { items, next } = await reader.artifactList(given);
    const list: ArtifactList = {
      artifacts: items.map(({ run, artifact }) => artifactView(run, artifact)),
      ...(next !== undefined && { next }),
    };
    return context.json(list);
  });

  routes.get('/:artifact', async context => {
    const given = context.req.param('artifact');
    const id = artifactId.safeParse(given);
    const found = id.success ? await reader.artifact(id.data) : undefined;
    if (found !== undefined) return context.json(artifactView(found.run, found.artifact));
    const handedIn = handedInAs(given);
    if (!handedIn.ok) return refuse(context, handedIn.error);
    const turn = handedIn.value === undefined ? await turns.find(given) : undefined;
    if (turn !== undefined) {
      const made = await turns.read(turn);
      return answer(context, made.ok ? ok(turnView(made.value)) : made);
    }
    return answer(context, handedIn.value === undefined ? err(unknownArtifact(given)) : ok(handedIn.value));
  });

  routes.get('/:artifact/content', async context => {
    const from = { artifact: reader.artifact, get: blobs.get };
    const given = context.req.param('artifact');
    const found = await readArtifact(from, given);
    if (found.ok) return contentAnswer(context, found.value.artifact, found.value.content);
    const handedIn = found.error.code === 'artifact/unknown' ? handedInAs(given) : undefined;
    if (handedIn?.ok !== true || handedIn.value === undefined || guided === undefined) {
      const turn = handedIn?.ok === true ? await turns.find(given) : undefined;
      if (turn === undefined) return refuse(context, handedIn?.ok === false ? handedIn.error : found.error);
      const made = await turns.read(turn);
      return made.ok
        ? contentAnswer(context, { ...made.value, derived: true }, made.value.content)
        : refuse(context, made.error);
    }
    const content = guided.content(handedIn.value);
    return content.ok ? contentAnswer(context, handedIn.value, content.value) : refuse(context, content.error);
  });

  /** Newest first, whether it was kept or follows from a turn. Of what follows only a page is made. */
  async function listOfRun(
    run: RunId,
    { turns: asked, node, task, kind, key, versions, after, limit }: z.infer<typeof artifactsQuery>,
  ): Promise<Result<ArtifactList, ErrorEnvelope>> {
    const derived = asked === undefined || key !== undefined ? [] : await turns.list(run, node);
    const kept = asked === 'only' ? [] : await keptOf(run, { ...(key && { key }), ...(versions && { versions }) });
    const all: readonly (WireArtifact | TurnArtifact)[] = [
      ...derived,
      ...kept.filter(one => node === undefined || one.node === node),
    ]
      .filter(one => (kind === undefined || one.kind === kind) && (task === undefined || one.task === task))
      .sort((a, b) => (a.createdAt > b.createdAt ? -1 : a.createdAt < b.createdAt ? 1 : 0));
    const page = pageOf(all, { after, limit: Math.min(limit ?? MADE_AT_ONCE, MADE_AT_ONCE) }, ({ id }) => id);
    if (!page.ok) return page;
    const artifacts: WireArtifact[] = [];
    for (const one of page.value.items) {
      if ('ref' in one) {
        artifacts.push(one);
        continue;
      }
      const made = await turns.read(one);
      if (!made.ok) return made;
      artifacts.push(turnView(made.value));
    }
    const next = artifactId.optional().parse(page.value.next);
    return ok({ artifacts, ...(next !== undefined && { next }) });
  }

  async function keptOf(
    run: RunId,
    filter: Pick<z.infer<typeof artifactsQuery>, 'key' | 'versions'>,
  ): Promise<readonly WireArtifact[]> {
    const found: WireArtifact[] = [];
    const { key, versions } = filter;
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

  function handedInAs(given: string): Result<WireArtifact | undefined, ErrorEnvelope> {
    const all = guided?.artifacts() ?? ok([]);
    return all.ok ? ok(all.value.find(({ id }) => id === given)) : all;
  }
  return routes;
}

/** Contents never change: a digest stands for one for ever. What is derived is another once its snapshots are collected. */
function contentAnswer(
  context: Context,
  artifact: Pick<WireArtifact, 'digest' | 'mimeType' | 'name' | 'derived'>,
  content: Uint8Array,
): Response {
  const headers = { ...contentHeaders(artifact), ...(artifact.derived && { 'Cache-Control': 'private, no-cache' }) };
  if (context.req.header('if-none-match') === headers.ETag) return new Response(null, { status: 304, headers });
  const ifRange = context.req.header('if-range');
  const asked = ifRange === undefined || ifRange === headers.ETag ? context.req.header('range') : undefined;
  const range = rangeOf(asked, content.length);
  if (range === 'unsatisfiable') {
    return new Response(null, { status: 416, headers: { ...headers, 'Content-Range': `bytes */${content.length}` } });
  }
  if (range === undefined) {
    return new Response(Uint8Array.from(content), {
      headers: { ...headers, 'Content-Length': String(content.length) },
    });
  }
  const part = Uint8Array.from(content.subarray(range.from, range.to + 1));
  return new Response(part, {
    status: 206,
    headers: {
      ...headers,
      'Content-Length': String(part.length),
      'Content-Range': `bytes ${range.from}-${range.to}/${content.length}`,
    },
  });
}

const KEPT_PAGE = 500;

function turnView({ content: _, ...artifact }: ReadTurnArtifact): WireArtifact {
  const { id, run, node } = artifact;
  return { ...artifact, ref: artifactRefOf(id), nodeId: contractNodeId(run, node), derived: true };
}

function artifactView(run: RunId, { content: _, ...artifact }: ArtifactRecord): WireArtifact {
  const { node } = artifact;
  return {
    ...artifact,
    ref: artifactRefOf(artifact.id),
    run,
    ...(node === undefined ? {} : { nodeId: contractNodeId(run, node) }),
  };
}
