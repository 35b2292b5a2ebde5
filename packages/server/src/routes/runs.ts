import type { RunAction, RunHost } from '@signalbox/app/runs';
import {
  emptyBody,
  err,
  ok,
  type RunId,
  type RunList,
  resumeBody,
  runId,
  runsQuery,
  signalBody,
  startBody,
  stopBody,
  text,
} from '@signalbox/model';
import { type Context, Hono } from 'hono';
import type * as z from 'zod';
import { answer, invalid, readBody, readQuery, refuse } from '../http/answer.ts';
import type { Asked } from '../http/asked.ts';
import { snapshotOf, summariesOf } from '../views/run-view.ts';
import { knownRun, unknownRun } from './known-run.ts';

const idempotencyKey = text.min(1).max(256);

/** Starts, lists, shows and moves runs. */
export function runRoutes(host: RunHost): Hono<Asked> {
  const { reader } = host;
  const routes = new Hono<Asked>();

  routes.post('/', async context => {
    const body = await readBody(context, startBody);
    if (!body.ok) return refuse(context, body.error);
    const key = idempotencyKey.optional().safeParse(context.req.header('idempotency-key'));
    if (!key.success) return refuse(context, invalid('Idempotency-Key takes 1 to 256 characters'));
    const started = await host.start({
      ...body.value,
      input: body.value.input ?? {},
      ...(key.data !== undefined && { idempotencyKey: key.data }),
    });
    return started.ok ? answerRun(context, started.value, 201) : refuse(context, started.error);
  });

  routes.get('/', async context => {
    const query = readQuery(context, runsQuery);
    if (!query.ok) return refuse(context, query.error);
    const { after: given, ...filter } = query.value;
    const after = runId.optional().safeParse(given);
    if (!after.success) return refuse(context, invalid('"after" must be the "next" of the page before'));
    const page = await reader.runs(withoutUndefined({ ...filter, after: after.data }));
    const list: RunList = {
      runs: await summariesOf(host, page.items),
      ...(page.next !== undefined && { next: page.next }),
    };
    return context.json(list);
  });

  routes.get('/:run', async context => {
    const id = runId.safeParse(context.req.param('run'));
    const snapshot = id.success ? await snapshotOf(host, id.data) : undefined;
    return answer(context, snapshot === undefined ? err(unknownRun(context.req.param('run'))) : ok(snapshot));
  });

  routes.post('/:run/resume', async context => {
    const run = await knownRun(reader, context.req.param('run'));
    if (!run.ok) return refuse(context, run.error);
    const body = await readBody(context, resumeBody);
    if (!body.ok) return refuse(context, body.error);
    const resumed = await host.resume(run.value.id, body.value);
    return resumed.ok ? answerRun(context, resumed.value) : refuse(context, resumed.error);
  });

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
      const done = await host.act(
        run.value.id,
        actionOf(body.value, context.req.param('node') ?? ''),
        context.get('user'),
      );
      return done.ok ? answerRun(context, run.value.id) : refuse(context, done.error);
    });
  const reasonOf = ({ reason }: z.infer<typeof stopBody>) => reason ?? 'an operator asked for it';
  act('/:run/pause', emptyBody, () => ({ kind: 'pause' }));
  act('/:run/stop', stopBody, body => ({ kind: 'stop', reason: reasonOf(body) }));
  act('/:run/terminate', stopBody, body => ({ kind: 'terminate', reason: reasonOf(body) }));
  act('/:run/nodes/:node/cancel', emptyBody, (_, node) => ({ kind: 'cancel', node }));
  act('/:run/signals', signalBody, ({ name, payload }) => ({ kind: 'signal', name, payload: payload ?? null }));

  async function answerRun(context: Context, run: RunId, status: 200 | 201 = 200) {
    const record = await reader.run(run);
    const [summary] = record === undefined ? [] : await summariesOf(host, [record]);
    return answer(context, summary === undefined ? err(unknownRun(run)) : ok(summary), status);
  }
  return routes;
}

type Present<T> = { [Key in keyof T]: Exclude<T[Key], undefined> };

/** Filters tell an absent field from one that is undefined. */
function withoutUndefined<T extends object>(fields: T): Partial<Present<T>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Present<T>>;
}
