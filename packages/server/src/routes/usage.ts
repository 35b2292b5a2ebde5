import { type RunReader, type Spending, spendingByProject } from '@signalbox/app/runs';
import { type SpendingList, spendingQuery } from '@signalbox/model';
import { Hono } from 'hono';
import { readQuery, refuse } from '../http/answer.ts';
import { MANY, pageOf } from './paging.ts';

/** What was spent. */
export function usageRoutes(reader: Pick<RunReader, 'spending' | 'run'>): Hono {
  const routes = new Hono();
  routes.get('/', async context => {
    const query = readQuery(context, spendingQuery);
    if (!query.ok) return refuse(context, query.error);
    const { run, since, ...asked } = query.value;
    const spending = await spendingByProject(reader, {
      ...(run !== undefined && { run }),
      ...(since !== undefined && { since }),
    });
    const page = pageOf(spending, { limit: MANY, ...asked }, keyOf);
    if (!page.ok) return refuse(context, page.error);
    const { items, next } = page.value;
    const list: SpendingList = { spending: items, ...(next !== undefined && { next }) };
    return context.json(list);
  });
  return routes;
}

/** There is one sum for these. */
function keyOf({ day, directory = '', provider = '', model = '' }: Spending): string {
  return JSON.stringify([day, directory, provider, model]);
}
