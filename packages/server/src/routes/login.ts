import { loginBody, type OneTimeLink } from '@signalbox/model';
import { Hono } from 'hono';
import { OPERATOR } from '../access/access.ts';
import type { ConsoleLogin } from '../access/console-login.ts';
import { answer, readBody, refuse } from '../http/answer.ts';
import type { Asked } from '../http/asked.ts';

/** Links that open the console once, and what they are exchanged for. */
export function loginRoutes(login: ConsoleLogin): Hono<Asked> {
  const routes = new Hono<Asked>();

  routes.post('/links', context => {
    const asker = context.get('identity');
    const { code, expiresAt } = login.newCode(asker.name === OPERATOR ? undefined : (asker.behind ?? asker));
    const link: OneTimeLink = { url: consoleAddress(new URL(context.req.url).origin, code), expiresAt };
    return context.json(link, 201);
  });

  routes.post('/login', async context => {
    const body = await readBody(context, loginBody);
    return body.ok ? answer(context, login.take(body.value.code)) : refuse(context, body.error);
  });
  return routes;
}

/** The code is behind the hash: browsers send that to no server, and no log has it. */
export const consoleAddress = (url: string, code: string): string => `${url}/#code=${code}`;
