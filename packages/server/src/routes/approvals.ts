import type { GuidedRuns } from '@signalbox/app/guided';
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
import { answer, invalid, readBody, readQuery, refuse } from '../http/answer.ts';
import type { Asked } from '../http/asked.ts';
import { listDecisions } from '../views/decision-list.ts';
import { decisionView, resolutionOf } from '../views/decision-view.ts';

/** The one queue of decisions (R7), as the contract's approvals. */
export function approvalRoutes(host: RunHost, guided?: GuidedRuns): Hono<Asked> {
  const { reader } = host;
  const routes = new Hono<Asked>();

  routes.get('/', async context => {
    const query = readQuery(context, decisionsQuery);
    if (!query.ok) return refuse(context, query.error);
    const run = runId.optional().safeParse(query.value.run);
    if (!run.success) return refuse(context, invalid('"run" must be the whole id of a run'));
    const page = await listDecisions(reader, guided, { ...query.value, run: run.data });
    if (!page.ok) return refuse(context, page.error);
    const { items, next } = page.value;
    const list: DecisionList = { approvals: items, ...(next !== undefined && { next }) };
    return context.json(list);
  });

  routes.post('/:decision/resolve', async context => {
    const given = context.req.param('decision');
    const id = approvalId.safeParse(given);
    const found = id.success ? await reader.decision(id.data) : undefined;
    const gap = id.success && found === undefined ? guided?.decision(id.data) : undefined;
    if (gap?.ok === false) return refuse(context, gap.error);
    const kind = found?.decision.kind ?? gap?.value?.decision.kind;
    if (!id.success || kind === undefined) return refuse(context, unknownDecision(given));
    const body = await readBody(context, answerBody);
    if (!body.ok) return refuse(context, body.error);
    const { proposalHash } = body.value;
    const resolution = resolutionOf(body.value, kind);
    if (found === undefined && guided !== undefined) {
      return answer(context, await guided.answer(id.data, resolution, proposalHash));
    }
    if (found === undefined) return refuse(context, unknownDecision(given));
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
