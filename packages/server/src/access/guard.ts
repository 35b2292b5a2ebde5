import type { Socket } from 'node:net';
import type { Context, MiddlewareHandler } from 'hono';
import { refuse } from '../http/answer.ts';
import type { Asked } from '../http/asked.ts';
import { type Access, bearerOf } from './access.ts';
import { opens } from './access-table.ts';
import { forbidden, type Identity } from './identity.ts';
import type { Door, OpenDoors } from './open-doors.ts';
import { createRouteNeeds } from './route-needs.ts';
import type { Strangers } from './strangers.ts';

/** Passes a request on to its route if the access table allows its token. */
export function guard(
  access: Access,
  doors: OpenDoors | undefined,
  unknown: (context: Context<Asked>) => Response,
  strangers?: Pick<Strangers, 'leave'>,
): MiddlewareHandler<Asked> {
  const needsOf = createRouteNeeds();
  return async (context, next) => {
    const needs = needsOf(context.req.method, context.req.path);
    if (needs.length > 0 && needs.every(needed => needed === 'no token')) return next();
    const known = access.identify(bearerOf(context.req.header('authorization')));
    if (!known.ok) return refuse(context, known.error);
    if (needs.length === 0) return unknown(context);
    const identity = known.value;
    const lacking = needs.find(needed => !opens(identity.role, needed));
    if (lacking !== undefined) return refuse(context, forbidden(identity, lacking));
    if (context.env?.incoming !== undefined) strangers?.leave(context.env.incoming.socket as Socket);
    context.set('user', identity.name);
    context.set('identity', identity);
    context.set('door', held(context, identity, doors));
    return next();
  };
}

/** Holds the request open until it is answered. If it must end earlier, its connection is reset, so that unsent data is never sent. */
function held({ env }: Context<Asked>, identity: Identity, doors: OpenDoors | undefined): Door | undefined {
  const { outgoing } = env ?? {};
  if (doors === undefined || outgoing === undefined) return undefined;
  const door: Door = {
    identity,
    async end() {
      if (outgoing.closed) return;
      const closed = new Promise<void>(resolve => outgoing.once('close', resolve));
      outgoing.req.socket.resetAndDestroy();
      await closed;
    },
  };
  outgoing.once('close', doors.hold(door));
  return door;
}
