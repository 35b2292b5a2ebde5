import type { SettingsDesk } from '@signalbox/app/runs';
import type { Settings } from '@signalbox/model';
import { Hono } from 'hono';
import { OPERATOR } from '../access/access.ts';
import type { Asked } from '../http/asked.ts';

/** What the server is set to. It is changed where it is written down, not here. */
export function settingsRoutes(settings: SettingsDesk): Hono<Asked> {
  const routes = new Hono<Asked>();
  routes.get('/', async context => {
    const { name, role } = context.get('identity');
    const answer: Settings = { user: { name, role, isDefault: name === OPERATOR }, ...(await settings.read()) };
    return context.json(answer);
  });
  return routes;
}
