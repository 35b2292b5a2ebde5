import { type ForkRequest, lineageOf, type RunAction, type RunHost } from '@signalbox/app/runs';
import {
  type CheckpointList,
  editBody,
  emptyBody,
  err,
  forkBody,
  ok,
  type RunId,
  rerunBody,
  retryBody,
  undoBody,
} from '@signalbox/model';
import { type Context, Hono } from 'hono';
import type * as z from 'zod';
import { answer, readBody, refuse } from '../http/answer.ts';
import type { Asked } from '../http/asked.ts';
import { summariesOf } from '../views/run-view.ts';
import { knownRun, unknownRun } from './known-run.ts';

/** Going back, branching off and intervening. */
export function forkRoutes(host: RunHost): Hono<Asked> {
  const { reader } = host;
  const routes = new Hono<Asked>();

  const fork = <Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    requestOf: (body: z.infer<Schema>, node: string) => ForkRequest,
  ) =>
    routes.post(path, async context => {
      const run = await knownRun(reader, context.req.param('run') ?? '');
      if (!run.ok) return refuse(context, run.error);
      const body = await readBody(context, schema);
      if (!body.ok) return refuse(context, body.error);
      const request = requestOf(body.value, context.req.param('node') ?? '');
      const forked = await host.fork(run.value.id, request, context.get('user'));
      return forked.ok ? answerRun(context, forked.value, 201) : refuse(context, forked.error);
    });
  fork('/:run/fork', forkBody, body => {
    if ('frame' in body) {
      const { frame, ...rest } = body;
      return { at: { kind: 'frame', frame }, ...rest };
    }
    const { call, after, ...rest } = body;
    return { at: { kind: 'call', call, after }, ...rest };
  });
  fork('/:run/nodes/:node/rerun', rerunBody, (body, node) => ({ at: { kind: 'node', node }, ...body }));

  const act = <Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    actionOf: (body: z.infer<Schema>, node: string) => RunAction,
  ) =>
    routes.post(path, async context => {
      const run = await knownRun(reader, context.req.param('run') ?? '');
      if (!run.ok) return refuse(context, run.error);
      const body = await readBody(context, schema);
      if (!body.ok) return refuse(context, body.error);
      const action = actionOf(body.value, context.req.param('node') ?? '');
      const done = await host.act(run.value.id, action, context.get('user'));
      return done.ok ? answerRun(context, run.value.id) : refuse(context, done.error);
    });
  act('/:run/nodes/:node/retry', retryBody, ({ policy }, node) => ({ kind: 'retry', node, policy }));
  act('/:run/nodes/:node/reset', emptyBody, (_, node) => ({ kind: 'reset', node }));
  act('/:run/edits', editBody, body => ({ kind: 'edit', ...body }));

  routes.get('/:run/lineage', async context => {
    const run = await knownRun(reader, context.req.param('run'));
    return run.ok ? context.json(await lineageOf(reader, run.value)) : refuse(context, run.error);
  });

  routes.get('/:run/checkpoints', async context => {
    const run = await knownRun(reader, context.req.param('run'));
    if (!run.ok) return refuse(context, run.error);
    const found = await host.checkpoints(run.value.id);
    if (!found.ok) return refuse(context, found.error);
    const list: CheckpointList = {
      checkpoints: found.value.map(({ node, directory, ...facts }) => ({
        ...facts,
        ...(node !== undefined && { node }),
        ...(directory !== undefined && { directory }),
      })),
    };
    return context.json(list);
  });

  routes.post('/:run/undo', async context => {
    const run = await knownRun(reader, context.req.param('run'));
    if (!run.ok) return refuse(context, run.error);
    const body = await readBody(context, undoBody);
    if (!body.ok) return refuse(context, body.error);
    const { call, dryRun } = body.value;
    return answer(context, await host.undo(run.value.id, call, { dryRun }, context.get('user')));
  });

  async function answerRun(context: Context, run: RunId, status: 200 | 201 = 200) {
    const record = await reader.run(run);
    const [summary] = record === undefined ? [] : await summariesOf(host, [record]);
    return answer(context, summary === undefined ? err(unknownRun(run)) : ok(summary), status);
  }
  return routes;
}
