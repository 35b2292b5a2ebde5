import type { IssuedToken, Users } from '@signalbox/app';
import {
  type AddedUser,
  addUserBody,
  type ErrorEnvelope,
  ok,
  type Result,
  rotateUserBody,
  type UserList,
  usersQuery,
} from '@signalbox/model';
import { Hono } from 'hono';
import type { OpenDoors } from '../access/open-doors.ts';
import { answer, readBody, readQuery, refuse } from '../http/answer.ts';
import type { Asked } from '../http/asked.ts';

const DEFAULT_PAGE = 100;

/** People and agents with tokens of their own. */
export function userRoutes(users: Users, doors?: OpenDoors): Hono<Asked> {
  const routes = new Hono<Asked>();

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
    const { name, ...terms } = body.value;
    return answer(context, issued(users.add(name, terms)), 201);
  });

  routes.post('/:name/rotate', async context => {
    const body = await readBody(context, rotateUserBody);
    if (!body.ok) return refuse(context, body.error);
    const rotated = users.rotate(context.req.param('name'), body.value);
    await doors?.check(context.get('door'));
    return answer(context, issued(rotated));
  });

  routes.delete('/:name', async context => {
    const removed = users.remove(context.req.param('name'));
    await doors?.check(context.get('door'));
    return answer(context, removed);
  });
  return routes;
}

function issued(result: Result<IssuedToken, ErrorEnvelope>): Result<AddedUser, ErrorEnvelope> {
  return result.ok ? ok({ ...result.value.user, token: result.value.token }) : result;
}
