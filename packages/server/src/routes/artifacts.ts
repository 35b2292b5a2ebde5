import type { GuidedRuns } from '@signalbox/app/guided';
import { type RunHost, readArtifact, unknownArtifact } from '@signalbox/app/runs';
import {
  type ArtifactList,
  artifactId,
  artifactsQuery,
  type ErrorEnvelope,
  err,
  ok,
  type Result,
  type WireArtifact,
} from '@signalbox/model';
import { type Context, Hono } from 'hono';
import { answer, readQuery, refuse } from '../http/answer.ts';
import { contentHeaders } from '../http/content-headers.ts';
import { rangeOf } from '../http/content-range.ts';
import { listArtifacts } from '../views/artifact-list.ts';
import { artifactView, turnView } from '../views/artifact-view.ts';

/** What runs keep for people to see, what was handed in on guided runs, and what follows from the turns of agents where that is asked for. */
export function artifactRoutes(
  { reader, blobs, inspection }: Pick<RunHost, 'reader' | 'blobs' | 'inspection'>,
  guided?: GuidedRuns,
): Hono {
  const routes = new Hono();
  const { turns } = inspection;

  routes.get('/', async context => {
    const query = readQuery(context, artifactsQuery);
    if (!query.ok) return refuse(context, query.error);
    const page = await listArtifacts({ reader, inspection }, guided, query.value);
    if (!page.ok) return refuse(context, page.error);
    const { items, next } = page.value;
    const list: ArtifactList = { artifacts: items, ...(next !== undefined && { next }) };
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
