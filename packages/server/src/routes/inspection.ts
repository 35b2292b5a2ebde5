import type { RunHost } from '@signalbox/app/runs';
import { planFileQuery, plansQuery, replayBody, stateQuery, verifyBody } from '@signalbox/model';
import { Hono } from 'hono';
import { answer, readBody, readQuery, refuse } from '../http/answer.ts';
import { knownRun } from './known-run.ts';

/** What a node was given, which plans there are and what they take, and whether a run is as it was written. */
export function inspectionRoutes({ reader, inspection }: Pick<RunHost, 'reader' | 'inspection'>): Hono {
  const routes = new Hono();

  routes.get('/runs/:run/nodes/:node/input', async context => {
    const run = await knownRun(reader, context.req.param('run'));
    if (!run.ok) return refuse(context, run.error);
    const query = readQuery(context, stateQuery);
    if (!query.ok) return refuse(context, query.error);
    return answer(context, await inspection.nodeInput(run.value.id, context.req.param('node'), query.value.frame));
  });

  routes.post('/runs/:run/verify', async context => {
    const run = await knownRun(reader, context.req.param('run'));
    if (!run.ok) return refuse(context, run.error);
    const body = await readBody(context, verifyBody);
    if (!body.ok) return refuse(context, body.error);
    const { signal } = context.req.raw;
    return answer(context, await inspection.verify(run.value.id, { ...body.value, signal }));
  });

  routes.post('/runs/:run/replay', async context => {
    const run = await knownRun(reader, context.req.param('run'));
    if (!run.ok) return refuse(context, run.error);
    const body = await readBody(context, replayBody);
    if (!body.ok) return refuse(context, body.error);
    const { signal } = context.req.raw;
    return answer(context, await inspection.replay(run.value.id, { ...body.value, signal }));
  });

  routes.get('/plans', async context => {
    const query = readQuery(context, plansQuery);
    return query.ok ? answer(context, await inspection.plans(query.value)) : refuse(context, query.error);
  });

  routes.get('/plans/describe', async context => {
    const query = readQuery(context, planFileQuery);
    if (!query.ok) return refuse(context, query.error);
    return answer(context, await inspection.describePlan(query.value.file, context.req.raw.signal));
  });
  return routes;
}
