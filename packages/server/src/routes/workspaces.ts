import { type RunHost, runDiff } from '@signalbox/app/runs';
import { stateQuery, type WorkspaceDiff } from '@signalbox/model';
import { Hono } from 'hono';
import { answer, readQuery, refuse } from '../http/answer.ts';
import { knownRun } from './known-run.ts';

/** What runs changed in files of their own. */
export function workspaceRoutes({ reader, blobs }: Pick<RunHost, 'reader' | 'blobs'>): Hono {
  const routes = new Hono();
  routes.get('/:run/diff', async context => {
    const run = await knownRun(reader, context.req.param('run'));
    if (!run.ok) return refuse(context, run.error);
    const query = readQuery(context, stateQuery);
    if (!query.ok) return refuse(context, query.error);
    return answer<WorkspaceDiff>(context, await runDiff({ reader, blobs }, run.value, query.value.frame));
  });
  return routes;
}
