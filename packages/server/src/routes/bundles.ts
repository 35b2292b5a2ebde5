import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { RunHost } from '@signalbox/app/runs';
import { importBody } from '@signalbox/model';
import { Hono } from 'hono';
import { answer, readBody, refuse } from '../http/answer.ts';
import type { Asked } from '../http/asked.ts';
import { ownersWordRefusal } from '../http/owner-only.ts';
import { knownRun } from './known-run.ts';

/** Runs as files: `GET /api/runs/:run/bundle` and `POST /api/imports`. */
export function bundleRoutes(host: RunHost): Hono<Asked> {
  const routes = new Hono<Asked>();

  routes.get('/runs/:run/bundle', async context => {
    const run = await knownRun(host.reader, context.req.param('run'));
    if (!run.ok) return refuse(context, run.error);
    const folder = mkdtempSync(path.join(tmpdir(), 'signalbox-export-'));
    const file = path.join(folder, 'run.bundle');
    const remove = () => rmSync(folder, { recursive: true, force: true });
    const written = await host.bundles.export(run.value.id, file);
    if (!written.ok) {
      remove();
      return refuse(context, written.error);
    }
    const stream = createReadStream(file);
    stream.once('close', remove);
    return context.body(Readable.toWeb(stream) as ReadableStream, 200, {
      'Content-Type': 'application/gzip',
      'Content-Length': String(written.value.bytes),
      'Content-Disposition': `attachment; filename="${written.value.run}.bundle"`,
    });
  });

  routes.post('/imports', async context => {
    const body = await readBody(context, importBody);
    if (!body.ok) return refuse(context, body.error);
    const refused = ownersWordRefusal(body.value, context);
    if (refused !== undefined) return refuse(context, refused);
    return answer(context, await host.bundles.import(body.value, context.get('user')));
  });
  return routes;
}
