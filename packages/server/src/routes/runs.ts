import type { GuidedRuns } from '@signalbox/app/guided';
import type { RunHost } from '@signalbox/app/runs';
import {
  emptyBody,
  err,
  ok,
  type RunList,
  resumeBody,
  runId,
  runsQuery,
  signalBody,
  startBody,
  stopBody,
  text,
} from '@signalbox/model';
import { Hono } from 'hono';
import type * as z from 'zod';
import { answer, invalid, readBody, readQuery, refuse } from '../http/answer.ts';
import type { Asked } from '../http/asked.ts';
import { ownersWordRefusal } from '../http/owner-only.ts';
import { listRuns } from '../views/run-list.ts';
import { snapshotOf } from '../views/run-view.ts';
import { unknownRun } from './known-run.ts';
import { actRoute, answerRun, runRoute } from './run-route.ts';

const idempotencyKey = text.min(1).max(256);

/** Starts, lists, shows and moves runs. */
export function runRoutes(host: RunHost, guided?: GuidedRuns): Hono<Asked> {
  const routes = new Hono<Asked>();

  routes.post('/', async context => {
    const body = await readBody(context, startBody);
    if (!body.ok) return refuse(context, body.error);
    const key = idempotencyKey.optional().safeParse(context.req.header('idempotency-key'));
    if (!key.success) return refuse(context, invalid('Idempotency-Key takes 1 to 256 characters'));
    const refused = ownersWordRefusal(body.value, context);
    if (refused !== undefined) return refuse(context, refused);
    const started = await host.start({
      ...body.value,
      input: body.value.input ?? {},
      ...(key.data !== undefined && { idempotencyKey: key.data }),
      by: context.get('user'),
    });
    return started.ok ? answerRun(host, context, started.value, 201) : refuse(context, started.error);
  });

  routes.get('/', async context => {
    const query = readQuery(context, runsQuery);
    if (!query.ok) return refuse(context, query.error);
    const page = await listRuns(host, guided, query.value);
    if (!page.ok) return refuse(context, page.error);
    const { items, next } = page.value;
    const list: RunList = { runs: items, ...(next !== undefined && { next }) };
    return context.json(list);
  });

  routes.get('/:run', async context => {
    const id = runId.safeParse(context.req.param('run'));
    const snapshot = id.success ? await snapshotOf(host, id.data) : undefined;
    const shown = id.success && snapshot === undefined ? guided?.show(id.data) : undefined;
    if (shown?.ok === false) return refuse(context, shown.error);
    if (shown?.value !== undefined) return context.json(shown.value);
    return answer(context, snapshot === undefined ? err(unknownRun(context.req.param('run'))) : ok(snapshot));
  });

  routes.post(
    '/:run/resume',
    runRoute(host, resumeBody, async (run, body, context) => {
      const refused = ownersWordRefusal(body, context);
      return refused === undefined ? host.resume(run, { ...body, by: context.get('user') }) : err(refused);
    }),
  );

  const reasonOf = ({ reason }: z.infer<typeof stopBody>) => reason ?? 'an operator asked for it';
  routes.post(
    '/:run/pause',
    actRoute(host, emptyBody, () => ({ kind: 'pause' })),
  );
  routes.post(
    '/:run/stop',
    actRoute(host, stopBody, body => ({ kind: 'stop', reason: reasonOf(body) })),
  );
  routes.post(
    '/:run/terminate',
    actRoute(host, stopBody, body => ({ kind: 'terminate', reason: reasonOf(body) })),
  );
  routes.post(
    '/:run/nodes/:node/cancel',
    actRoute(host, emptyBody, (_, node) => ({ kind: 'cancel', node })),
  );
  routes.post(
    '/:run/signals',
    actRoute(host, signalBody, ({ name, payload }) => ({ kind: 'signal', name, payload: payload ?? null })),
  );
  return routes;
}
