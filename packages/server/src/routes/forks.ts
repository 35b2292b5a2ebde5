import { type ForkRequest, lineageOf, type RunHost } from '@signalbox/app/runs';
import {
  type CheckpointList,
  editBody,
  emptyBody,
  err,
  forkBody,
  type Lineage,
  listQuery,
  rerunBody,
  retryBody,
  rollbackBody,
  undoBody,
} from '@signalbox/model';
import { Hono } from 'hono';
import type * as z from 'zod';
import { answer, readBody, readQuery, refuse } from '../http/answer.ts';
import type { Asked } from '../http/asked.ts';
import { ownersWordRefusal } from '../http/owner-only.ts';
import { knownRun } from './known-run.ts';
import { MANY, pageOf } from './paging.ts';
import { actRoute, runRoute } from './run-route.ts';

/** Going back, branching off and intervening. */
export function forkRoutes(host: RunHost): Hono<Asked> {
  const { reader } = host;
  const routes = new Hono<Asked>();

  const fork = <Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    requestOf: (body: z.infer<Schema>, node: string) => ForkRequest,
  ) =>
    routes.post(
      path,
      runRoute(
        host,
        schema,
        async (run, body, context) => {
          const request = requestOf(body, context.req.param('node') ?? '');
          const refused = ownersWordRefusal(request, context);
          return refused === undefined ? host.fork(run, request, context.get('user')) : err(refused);
        },
        201,
      ),
    );
  fork('/:run/fork', forkBody, body => {
    if ('frame' in body) {
      const { frame, ...rest } = body;
      return { at: { kind: 'frame', frame }, ...rest };
    }
    const { call, after, ...rest } = body;
    return { at: { kind: 'call', call, after }, ...rest };
  });
  fork('/:run/nodes/:node/rerun', rerunBody, (body, node) => ({ at: { kind: 'node', node }, ...body }));

  routes.post(
    '/:run/nodes/:node/retry',
    actRoute(host, retryBody, ({ policy }, node) => ({ kind: 'retry', node, policy })),
  );
  routes.post(
    '/:run/nodes/:node/reset',
    actRoute(host, emptyBody, (_, node) => ({ kind: 'reset', node })),
  );
  routes.post(
    '/:run/edits',
    actRoute(host, editBody, body => ({ kind: 'edit', ...body })),
  );

  routes.get('/:run/lineage', async context => {
    const run = await knownRun(reader, context.req.param('run'));
    if (!run.ok) return refuse(context, run.error);
    const query = readQuery(context, listQuery);
    if (!query.ok) return refuse(context, query.error);
    const { forks, ...rest } = await lineageOf(reader, run.value);
    const page = pageOf(forks, query.value, fork => fork.run);
    if (!page.ok) return refuse(context, page.error);
    const { items, next } = page.value;
    const lineage: Lineage = { ...rest, forks: items, ...(next !== undefined && { next }) };
    return context.json(lineage);
  });

  routes.get('/:run/checkpoints', async context => {
    const run = await knownRun(reader, context.req.param('run'));
    if (!run.ok) return refuse(context, run.error);
    const query = readQuery(context, listQuery);
    if (!query.ok) return refuse(context, query.error);
    const found = await host.checkpoints(run.value.id);
    if (!found.ok) return refuse(context, found.error);
    const page = pageOf(found.value, { limit: MANY, ...query.value }, ({ call }) => call);
    if (!page.ok) return refuse(context, page.error);
    const { items, next } = page.value;
    const list: CheckpointList = {
      checkpoints: items.map(({ node, directory, ...facts }) => ({
        ...facts,
        ...(node !== undefined && { node }),
        ...(directory !== undefined && { directory }),
      })),
      ...(next !== undefined && { next }),
    };
    return context.json(list);
  });

  routes.post('/:run/undo', async context => {
    const run = await knownRun(reader, context.req.param('run'));
    if (!run.ok) return refuse(context, run.error);
    const body = await readBody(context, undoBody);
    if (!body.ok) return refuse(context, body.error);
    const { call, ...request } = body.value;
    return answer(context, await host.undo(run.value.id, call, request, context.get('user')));
  });

  routes.post('/:run/rollback', async context => {
    const run = await knownRun(reader, context.req.param('run'));
    if (!run.ok) return refuse(context, run.error);
    const body = await readBody(context, rollbackBody);
    if (!body.ok) return refuse(context, body.error);
    return answer(context, await host.rollback(run.value.id, body.value, context.get('user')));
  });
  return routes;
}
