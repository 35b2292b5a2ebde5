import type { GuidedRuns } from '@signalbox/app/guided';
import { type ArtifactRecord, contractNodeId, type RunHost, readArtifact, unknownArtifact } from '@signalbox/app/runs';
import {
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
import { answer, readQuery, refuse } from '../http/answer.ts';
import { contentHeaders } from '../http/content-headers.ts';
import { rangeOf } from '../http/content-range.ts';
import { badCursor, pageOf } from './paging.ts';

/** What runs keep for people to see. What was handed in on a guided run is found by its id, and listed with its run. */
export function artifactRoutes({ reader, blobs }: Pick<RunHost, 'reader' | 'blobs'>, guided?: GuidedRuns): Hono {
  const routes = new Hono();

  routes.get('/', async context => {
    const query = readQuery(context, artifactsQuery);
    if (!query.ok) return refuse(context, query.error);
    const given = Object.fromEntries(Object.entries(query.value).filter(([, value]) => value !== undefined));
    const { after, run, limit, kind, key } = query.value;
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
    return answer(context, handedIn.value === undefined ? err(unknownArtifact(given)) : ok(handedIn.value));
  });

  routes.get('/:artifact/content', async context => {
    const from = { artifact: reader.artifact, get: blobs.get };
    const given = context.req.param('artifact');
    const found = await readArtifact(from, given);
    if (found.ok) return contentAnswer(context, found.value.artifact, found.value.content);
    const handedIn = found.error.code === 'artifact/unknown' ? handedInAs(given) : undefined;
    if (handedIn?.ok !== true || handedIn.value === undefined || guided === undefined) {
      return refuse(context, handedIn?.ok === false ? handedIn.error : found.error);
    }
    const content = guided.content(handedIn.value);
    return content.ok ? contentAnswer(context, handedIn.value, content.value) : refuse(context, content.error);
  });

  function handedInAs(given: string): Result<WireArtifact | undefined, ErrorEnvelope> {
    const all = guided?.artifacts() ?? ok([]);
    return all.ok ? ok(all.value.find(({ id }) => id === given)) : all;
  }
  return routes;
}

/** Contents never change: a digest stands for one for ever. */
function contentAnswer(
  context: Context,
  artifact: Pick<WireArtifact, 'digest' | 'mimeType' | 'name'>,
  content: Uint8Array,
): Response {
  const headers = contentHeaders(artifact);
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

function artifactView(run: RunId, { content: _, ...artifact }: ArtifactRecord): WireArtifact {
  const { node } = artifact;
  return {
    ...artifact,
    ref: artifactRefOf(artifact.id),
    run,
    ...(node === undefined ? {} : { nodeId: contractNodeId(run, node) }),
  };
}
