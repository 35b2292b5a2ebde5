import type { AllRuns } from '@signalbox/app/all-runs';
import { ok, type WireArtifact } from '@signalbox/model';
import { contentHeaders } from '../http/content-headers.ts';
import { rangeOf } from '../http/content-range.ts';
import type { Serving } from '../http/handlers.ts';
import { listed } from './paging.ts';

/** Artifacts of runs, and those derived from agent turns. */
export function artifactHandlers(
  all: Pick<AllRuns, 'artifacts' | 'artifact'>,
): Serving<'artifacts' | 'artifact' | 'artifactContent'> {
  return {
    artifacts: async (_, asked) => listed('artifacts', await all.artifacts(asked)),
    async artifact({ artifact }) {
      const found = await all.artifact(artifact);
      return found.ok ? ok(found.value.artifact) : found;
    },
    async artifactContent({ artifact }, _, { request }) {
      const found = await all.artifact(artifact);
      if (!found.ok) return found;
      const content = await found.value.content();
      return content.ok ? ok(contentAnswer(request.headers, found.value.artifact, content.value)) : content;
    },
  };
}

/** Content never changes: a digest names one content forever. Derived content changes once its snapshots are collected. */
function contentAnswer(
  asked: Headers,
  artifact: Pick<WireArtifact, 'digest' | 'mimeType' | 'name' | 'derived'>,
  content: Uint8Array,
): Response {
  const headers = { ...contentHeaders(artifact), ...(artifact.derived && { 'Cache-Control': 'private, no-cache' }) };
  if (asked.get('if-none-match') === headers.ETag) return new Response(null, { status: 304, headers });
  const ifRange = asked.get('if-range');
  const given = ifRange === null || ifRange === headers.ETag ? asked.get('range') : null;
  const range = rangeOf(given ?? undefined, content.length);
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
