import type { RunAction, RunHost } from '@signalbox/app/runs';
import { type ErrorEnvelope, err, ok, type Result, type RunId } from '@signalbox/model';
import type { Context } from 'hono';
import type * as z from 'zod';
import { answer, readBody, refuse } from '../http/answer.ts';
import type { Asked } from '../http/asked.ts';
import { summariesOf } from '../views/run-view.ts';
import { knownRun, unknownRun } from './known-run.ts';

/** Answers a request that does something to a run: with that run, or the one it made, as it is then. */
export function runRoute<Schema extends z.ZodType>(
  host: RunHost,
  schema: Schema,
  act: (run: RunId, body: z.infer<Schema>, context: Context<Asked>) => Promise<Result<RunId, ErrorEnvelope>>,
  status: 200 | 201 = 200,
) {
  return async (context: Context<Asked>): Promise<Response> => {
    const run = await knownRun(host.reader, context.req.param('run') ?? '');
    if (!run.ok) return refuse(context, run.error);
    const body = await readBody(context, schema);
    if (!body.ok) return refuse(context, body.error);
    const done = await act(run.value.id, body.value, context);
    return done.ok ? answerRun(host, context, done.value, status) : refuse(context, done.error);
  };
}

/** A route for one action on a run, in the name of who asks. */
export function actRoute<Schema extends z.ZodType>(
  host: RunHost,
  schema: Schema,
  actionOf: (body: z.infer<Schema>, node: string) => RunAction,
) {
  return runRoute(host, schema, async (run, body, context) => {
    const acted = await host.act(run, actionOf(body, context.req.param('node') ?? ''), context.get('user'));
    return acted.ok ? ok(run) : acted;
  });
}

export async function answerRun(host: RunHost, context: Context, run: RunId, status: 200 | 201 = 200) {
  const record = await host.reader.run(run);
  const [summary] = record === undefined ? [] : await summariesOf(host, [record]);
  return answer(context, summary === undefined ? err(unknownRun(run)) : ok(summary), status);
}
