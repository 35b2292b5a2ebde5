import type { RunHost } from '@signalbox/app/runs';
import { emptyBody, type RecoveryList } from '@signalbox/model';
import { Hono } from 'hono';
import { answer, readBody, refuse } from '../http/answer.ts';

/** What recoveries did about tool calls that were cut off, until somebody has seen it. */
export function recoveryRoutes({ recoveries }: Pick<RunHost, 'recoveries'>): Hono {
  const routes = new Hono();
  routes.get('/', context => context.json({ recoveries: recoveries.list() } satisfies RecoveryList));
  routes.post('/:call/dismiss', async context => {
    const body = await readBody(context, emptyBody);
    if (!body.ok) return refuse(context, body.error);
    return answer(context, recoveries.dismiss(context.req.param('call')));
  });
  return routes;
}
