import type { RunReader } from '@signalbox/app/runs';
import { type SpendingList, spendingQuery } from '@signalbox/model';
import { Hono } from 'hono';
import { readQuery, refuse } from '../http/answer.ts';

/** What was spent. */
export function usageRoutes(reader: Pick<RunReader, 'spending'>): Hono {
  const routes = new Hono();
  routes.get('/', async context => {
    const query = readQuery(context, spendingQuery);
    if (!query.ok) return refuse(context, query.error);
    const { run, since } = query.value;
    const spending = await reader.spending({
      ...(run !== undefined && { run }),
      ...(since !== undefined && { since }),
    });
    const list: SpendingList = { spending };
    return context.json(list);
  });
  return routes;
}
