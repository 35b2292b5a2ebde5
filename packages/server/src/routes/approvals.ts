import type { RunHost } from '@signalbox/app/runs';
import {
  answerBody,
  approvalId,
  type DecisionList,
  decisionsQuery,
  type ErrorEnvelope,
  failure,
  runId,
} from '@signalbox/model';
import { Hono } from 'hono';
import { invalid, readBody, readQuery, refuse } from '../http/answer.ts';
import type { Asked } from '../http/asked.ts';
import { decisionView, resolutionOf } from '../views/decision-view.ts';

/** The one queue of decisions (R7), as the contract's approvals. */
export function approvalRoutes(host: RunHost): Hono<Asked> {
  const { reader } = host;
  const routes = new Hono<Asked>();

  routes.get('/', async context => {
    const query = readQuery(context, decisionsQuery);
    if (!query.ok) return refuse(context, query.error);
    const run = runId.optional().safeParse(query.value.run);
    if (!run.success) return refuse(context, invalid('"run" must be the whole id of a run'));
    const { status = 'open' } = query.value;
    const found = await reader.decisions({
      ...(run.data !== undefined && { run: run.data }),
      ...(status !== 'all' && { status: [status] }),
    });
    const list: DecisionList = { approvals: found.map(({ run, decision }) => decisionView(run, decision)) };
    return context.json(list);
  });

  routes.post('/:decision/resolve', async context => {
    const id = approvalId.safeParse(context.req.param('decision'));
    const found = id.success ? await reader.decision(id.data) : undefined;
    if (!id.success || found === undefined) return refuse(context, unknownDecision(context.req.param('decision')));
    const body = await readBody(context, answerBody);
    if (!body.ok) return refuse(context, body.error);
    const { proposalHash } = body.value;
    const resolution = resolutionOf(body.value, found.decision.kind);
    const answered = await host.answer(
      id.data,
      { resolution, ...(proposalHash && { proposalHash }) },
      context.get('user'),
    );
    return answered.ok ? context.json(decisionView(found.run, answered.value)) : refuse(context, answered.error);
  });
  return routes;
}

function unknownDecision(given: string): ErrorEnvelope {
  const shown = given.slice(0, 64);
  return failure('decision/unknown', {
    message: `There is no decision ${shown}.`,
    suggestion: 'List the open decisions and answer one of them.',
    details: { decision: shown },
  });
}
