import type { Providers } from '@signalbox/app/runs';
import { Hono } from 'hono';

/** How the providers of models do. */
export function providerRoutes(providers: Providers): Hono {
  const routes = new Hono();
  routes.get('/', context => context.json(providers.list()));
  return routes;
}
