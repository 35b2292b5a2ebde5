import type { Users } from '@signalbox/app';
import {
  type AddedUser,
  addUserBody,
  type ErrorEnvelope,
  failure,
  ok,
  type UserList,
  usersQuery,
} from '@signalbox/model';
import { Hono } from 'hono';
import { OPERATOR } from '../http/access.ts';
import { answer, readBody, readQuery, refuse } from '../http/answer.ts';
import type { Asked } from '../http/asked.ts';

const DEFAULT_PAGE = 100;

/** People with tokens of their own. Only whoever has the token of the data directory itself sees, adds and removes them. */
export function userRoutes(users: Users): Hono<Asked> {
  const routes = new Hono<Asked>();
  routes.use(async (context, next) => (context.get('user') === OPERATOR ? next() : refuse(context, notYours())));

  routes.get('/', context => {
    const query = readQuery(context, usersQuery);
    if (!query.ok) return refuse(context, query.error);
    const { after = '', limit = DEFAULT_PAGE } = query.value;
    const all = users.list();
    if (!all.ok) return refuse(context, all.error);
    const rest = all.value.filter(({ name }) => name > after);
    const page = rest.slice(0, limit);
    const last = page.at(-1);
    const list: UserList = { users: page, ...(rest.length > limit && last !== undefined && { next: last.name }) };
    return context.json(list);
  });

  routes.post('/', async context => {
    const body = await readBody(context, addUserBody);
    if (!body.ok) return refuse(context, body.error);
    const added = users.add(body.value.name);
    if (!added.ok) return refuse(context, added.error);
    const { user, token } = added.value;
    return answer(context, ok<AddedUser>({ ...user, token }), 201);
  });

  routes.delete('/:name', context => answer(context, users.remove(context.req.param('name'))));
  return routes;
}

function notYours(): ErrorEnvelope<'request/forbidden'> {
  return failure('request/forbidden', {
    message: 'Only whoever has the token of the data directory itself may see, add and remove users.',
    suggestion: 'Ask the person who runs this server, or use "signalbox users" where its data directory is.',
  });
}
