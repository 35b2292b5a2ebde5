import type { IssuedToken, Users } from '@signalbox/app';
import { type AddedUser, type ErrorEnvelope, ok, type Result } from '@signalbox/model';
import type { OpenDoors } from '../access/open-doors.ts';
import type { Serving } from '../http/handlers.ts';
import { cutPage, listed } from './paging.ts';

const DEFAULT_PAGE = 100;

/** Users with their own tokens. */
export function userHandlers(
  users: Users,
  doors?: OpenDoors,
): Serving<'users' | 'addUser' | 'rotateUser' | 'removeUser'> {
  return {
    users(_, { after = '', limit = DEFAULT_PAGE }) {
      const all = users.list();
      if (!all.ok) return all;
      const rest = all.value.filter(({ name }) => name > after);
      return listed('users', ok(cutPage(rest, limit, ({ name }) => name)));
    },
    addUser: (_, { name, ...terms }) => issued(users.add(name, terms)),
    async rotateUser({ name }, terms, { door }) {
      const rotated = users.rotate(name, terms);
      await doors?.check(door);
      return issued(rotated);
    },
    async removeUser({ name }, _, { door }) {
      const removed = users.remove(name);
      await doors?.check(door);
      return removed;
    },
  };
}

function issued(result: Result<IssuedToken, ErrorEnvelope>): Result<AddedUser, ErrorEnvelope> {
  return result.ok ? ok({ ...result.value.user, token: result.value.token }) : result;
}
