import type { RunHost } from '@signalbox/app/runs';
import { collectBody, emptyBody, err, ok, redactionBody } from '@signalbox/model';
import { Hono } from 'hono';
import { answer, readBody, refuse } from '../http/answer.ts';
import type { Asked } from '../http/asked.ts';
import { summariesOf } from '../views/run-view.ts';
import { knownRun, unknownRun } from './known-run.ts';

/** How long runs stay, and what is taken out of them: `POST /api/runs/:run/keep`, `/unkeep` and `/redact`, and `POST /api/gc`. */
export function retentionRoutes(host: RunHost): Hono<Asked> {
  const routes = new Hono<Asked>();

  for (const [verb, isKept] of [
    ['keep', true],
    ['unkeep', false],
  ] as const) {
    routes.post(`/runs/:run/${verb}`, async context => {
      const run = await knownRun(host.reader, context.req.param('run'));
      if (!run.ok) return refuse(context, run.error);
      const body = await readBody(context, emptyBody);
      if (!body.ok) return refuse(context, body.error);
      const kept = await host.retention.keep(run.value.id, isKept, context.get('user'));
      if (!kept.ok) return refuse(context, kept.error);
      const [summary] = await summariesOf(host, [kept.value]);
      return answer(context, summary === undefined ? err(unknownRun(run.value.id)) : ok(summary));
    });
  }

  routes.post('/runs/:run/redact', async context => {
    const run = await knownRun(host.reader, context.req.param('run'));
    if (!run.ok) return refuse(context, run.error);
    const body = await readBody(context, redactionBody);
    if (!body.ok) return refuse(context, body.error);
    return answer(context, await host.redactions.redact(run.value.id, body.value, context.get('user')));
  });

  routes.post('/gc', async context => {
    const body = await readBody(context, collectBody);
    if (!body.ok) return refuse(context, body.error);
    const { dryRun = false, compact } = body.value;
    return answer(context, await host.retention.collect({ dryRun, compact, by: context.get('user') }));
  });
  return routes;
}
