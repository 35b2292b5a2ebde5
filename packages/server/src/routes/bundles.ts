import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { RunHost } from '@signalbox/app/host';
import { err, ok } from '@signalbox/model';
import type { Serving } from '../http/handlers.ts';
import { ownersWordRefusal } from '../http/owner-only.ts';

/** Exports and imports of runs. */
export function bundleHandlers({ bundles }: Pick<RunHost, 'bundles'>): Serving<'bundle' | 'importBundle'> {
  return {
    async bundle({ run }) {
      const folder = mkdtempSync(path.join(tmpdir(), 'signalbox-export-'));
      const file = path.join(folder, 'run.bundle');
      const remove = () => rmSync(folder, { recursive: true, force: true });
      const written = await bundles.export(run.id, file);
      if (!written.ok) {
        remove();
        return written;
      }
      const stream = createReadStream(file);
      stream.once('close', remove);
      const headers = {
        'Content-Type': 'application/gzip',
        'Content-Length': String(written.value.bytes),
        'Content-Disposition': `attachment; filename="${written.value.run}.bundle"`,
      };
      return ok(new Response(Readable.toWeb(stream) as ReadableStream, { headers }));
    },
    async importBundle(_, body, caller) {
      const refused = ownersWordRefusal(body, caller);
      return refused === undefined ? bundles.import(body, caller.user) : err(refused);
    },
  };
}
