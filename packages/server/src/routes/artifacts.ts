import {
  type ArtifactRecord,
  contractNodeId,
  type ReadArtifact,
  type RunHost,
  readArtifact,
  unknownArtifact,
} from '@signalbox/app/runs';
import {
  type ArtifactList,
  artifactId,
  artifactRefOf,
  artifactsQuery,
  err,
  ok,
  type RunId,
  type WireArtifact,
} from '@signalbox/model';
import { type Context, Hono } from 'hono';
import { answer, readQuery, refuse } from '../http/answer.ts';
import { contentHeaders } from '../http/content-headers.ts';
import { rangeOf } from '../http/content-range.ts';
import { badCursor } from './paging.ts';

/** What runs keep for people to see. */
export function artifactRoutes({ reader, blobs }: Pick<RunHost, 'reader' | 'blobs'>): Hono {
  const routes = new Hono();

  routes.get('/', async context => {
    const query = readQuery(context, artifactsQuery);
    if (!query.ok) return refuse(context, query.error);
    const given = Object.fromEntries(Object.entries(query.value).filter(([, value]) => value !== undefined));
    const { after } = query.value;
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
    return answer(
      context,
      found === undefined ? err(unknownArtifact(given)) : ok(artifactView(found.run, found.artifact)),
    );
  });

  routes.get('/:artifact/content', async context => {
    const from = { artifact: reader.artifact, get: blobs.get };
    const found = await readArtifact(from, context.req.param('artifact'));
    return found.ok ? contentAnswer(context, found.value) : refuse(context, found.error);
  });
  return routes;
}

/** Contents never change: a digest stands for one for ever. */
function contentAnswer(context: Context, { artifact, content }: ReadArtifact): Response {
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
