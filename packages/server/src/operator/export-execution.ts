import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ContentBlock } from '@modelcontextprotocol/server';
import { ok, type RunId } from '@signalbox/model';
import { executionAddress } from './address.ts';
import type { Answer, ToolDesk } from './tool.ts';

/** Larger bundles are linked, not embedded. */
const EMBEDDED_BYTES = 262_144;

const GZIP = 'application/gzip';

/** Writes the bundle of an execution and embeds or links it. Leaves nothing on disk. */
export async function exportExecution(
  { host, url }: Pick<ToolDesk, 'host' | 'by' | 'url'>,
  run: RunId,
  mostBytes = EMBEDDED_BYTES,
): Answer {
  const folder = mkdtempSync(path.join(tmpdir(), 'signalbox-export-'));
  try {
    const file = path.join(folder, 'run.bundle');
    const written = await host.bundles.export(run, file);
    if (!written.ok) return written;
    const { runs, bytes, digest, head } = written.value;
    const name = `${run}.bundle`;
    const isEmbedded = bytes <= mostBytes;
    const download = url === undefined ? null : new URL(`/api/runs/${run}/bundle`, url).href;
    const attached: readonly ContentBlock[] = isEmbedded
      ? [
          {
            type: 'resource',
            resource: {
              uri: `${executionAddress(run)}/${name}`,
              mimeType: GZIP,
              blob: readFileSync(file).toString('base64'),
            },
          },
        ]
      : download === null
        ? [
            {
              type: 'text',
              text: `It is too large to embed. On the server's machine: signalbox export ${run}`,
            },
          ]
        : [{ type: 'resource_link', uri: download, name, mimeType: GZIP, title: 'The bundle' }];
    const value = {
      execution_id: run,
      executions: runs,
      file_name: name,
      mime_type: GZIP,
      bytes,
      digest: isEmbedded ? digest : null,
      head,
      is_embedded: isEmbedded,
      download,
    };
    return ok({ value, attached });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
