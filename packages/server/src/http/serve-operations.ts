import { type ErrorEnvelope, inputs, type Operation, ok, operations, type Result } from '@signalbox/model';
import type { Context, Hono } from 'hono';
import { readBody, readQuery, refuse } from './answer.ts';
import type { Asked } from './asked.ts';
import { type Caller, type Handlers, ofAnyRun, type RouteName } from './handlers.ts';
import type { Places } from './places.ts';

/** Handlers of services that a server lacks are undefined, and their routes do not exist. */
export type Served = { readonly [Name in RouteName]: Handlers[Name] | undefined };

/** Routes requests to handlers by the table of operations: resolves the path, checks the input, calls the handler, answers. */
export function serveOperations(app: Hono<Asked>, served: Served, places: Places): void {
  for (const [name, handler] of Object.entries(served as Readonly<Record<string, AnyHandler | undefined>>)) {
    if (handler === undefined) continue;
    const { route, input, status = 200 }: Operation = operations[name as RouteName];
    const [method = '', path = ''] = route.split(' ');
    app.on(method, path, async context => {
      const place = await foundPlace(name, context.req.param(), places);
      if (!place.ok) return refuse(context, place.error);
      const checked = await checkedInput(context, method, input);
      if (!checked.ok) return refuse(context, checked.error);
      const { user, identity, door } = context.var;
      const done = await handler(place.value, checked.value, { user, identity, door, request: context.req.raw });
      if (!done.ok) return refuse(context, done.error);
      return done.value instanceof Response ? done.value : context.json(done.value, status);
    });
  }
}

/** The types are known for each name, but not in a loop over all names. */
type AnyHandler = (place: object, input: unknown, caller: Caller) => Promise<Result<object, ErrorEnvelope>>;

type Finder = (given: string) => Result<unknown, ErrorEnvelope> | Promise<Result<unknown, ErrorEnvelope>>;

async function foundPlace(
  name: string,
  given: Readonly<Record<string, string>>,
  { run, anyRun, session, decision }: Places,
): Promise<Result<object, ErrorEnvelope>> {
  const finders: Readonly<Record<string, Finder>> = {
    run: ofAnyRun.some(each => each === name) ? anyRun : run,
    session,
    decision,
  };
  const place: Record<string, unknown> = {};
  for (const [part, text] of Object.entries(given)) {
    const found = (await finders[part]?.(text)) ?? ok(text);
    if (!found.ok) return found;
    place[part] = found.value;
  }
  return ok(place);
}

function checkedInput(context: Context, method: string, input: Operation['input']) {
  if (input === undefined) return ok(undefined);
  return method === 'GET' ? readQuery(context, inputs[input]) : readBody(context, inputs[input]);
}
