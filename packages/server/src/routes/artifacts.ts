import type { GuidedRuns } from '@signalbox/app/guided';
import type { RunHost } from '@signalbox/app/runs';
import { type ArtifactList, artifactsQuery, type WireArtifact } from '@signalbox/model';
import { type Context, Hono } from 'hono';
import { readQuery, refuse } from '../http/answer.ts';
import { contentHeaders } from '../http/content-headers.ts';
import { rangeOf } from '../http/content-range.ts';
import { listArtifacts } from '../views/artifact-list.ts';
import { findArtifact } from '../views/found-artifact.ts';

/** What runs keep for people to see, what was handed in on guided runs, and what follows from the turns of agents where that is asked for. */
export function artifactRoutes(host: Pick<RunHost, 'reader' | 'blobs' | 'inspection'>, guided?: GuidedRuns): Hono {
  const routes = new Hono();

  routes.get('/', async context => {
    const query = readQuery(context, artifactsQuery);
    if (!query.ok) return refuse(context, query.error);
    const page = await listArtifacts(host, guided, query.value);
    if (!page.ok) return refuse(context, page.error);
    const { items, next } = page.value;
    const list: ArtifactList = { artifacts: items, ...(next !== undefined && { next }) };
    return context.json(list);
  });

  routes.get('/:artifact', async context => {
    const found = await findArtifact(host, guided, context.req.param('artifact'));
    return found.ok ? context.json(found.value.artifact) : refuse(context, found.error);
  });

  routes.get('/:artifact/content', async context => {
    const found = await findArtifact(host, guided, context.req.param('artifact'));
    if (!found.ok) return refuse(context, found.error);
    const content = await found.value.content();
    return content.ok ? contentAnswer(context, found.value.artifact, content.value) : refuse(context, content.error);
  });

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
