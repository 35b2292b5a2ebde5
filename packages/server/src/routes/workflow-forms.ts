import type { GuidedSessions } from '@signalbox/app/guided';
import { workflowFormsQuery } from '@signalbox/model';
import { Hono } from 'hono';
import { answer, readQuery, refuse } from '../http/answer.ts';

/** A workflow as it was written, compiled and pinned. */
export function workflowFormRoutes(sessions: Pick<GuidedSessions, 'forms'>): Hono {
  const routes = new Hono();
  routes.get('/:workflow/forms', async context => {
    const query = readQuery(context, workflowFormsQuery);
    if (!query.ok) return refuse(context, query.error);
    return answer(context, await sessions.forms(context.req.param('workflow'), query.value.pinned));
  });
  return routes;
}
