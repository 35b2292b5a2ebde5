import type { GuidedSessions, GuidedTools } from '@signalbox/app/guided';
import {
  type ErrorEnvelope,
  err,
  failure,
  gapAnswerBody,
  listQuery,
  ok,
  type Result,
  type SessionDetail,
  type SessionId,
  type SessionList,
  type StartedSession,
  sessionDetail,
  sessionId,
  sessionList,
  startSessionBody,
  type WorkflowList,
  workflowDetail,
  workflowList,
} from '@signalbox/model';
import { Hono } from 'hono';
import { answer, readBody, readQuery, refuse } from '../http/answer.ts';
import { pageOf } from './paging.ts';

/** Guided sessions: what agents walked, what waits in them, and the person's answers. */
export function sessionRoutes(sessions: GuidedSessions, tools?: Pick<GuidedTools, 'start'>): Hono {
  const routes = new Hono();

  if (tools !== undefined) {
    routes.post('/', async context => {
      const body = await readBody(context, startSessionBody);
      if (!body.ok) return refuse(context, body.error);
      const startKey = context.req.header('idempotency-key');
      const started = await tools.start({ ...body.value, ...(startKey !== undefined && { startKey }) }, 'person');
      if (!started.ok) return refuse(context, started.error);
      const { sessionId: session, runId, workflow } = started.value;
      const told: StartedSession = { sessionId: session, runId, workflowId: workflow.workflowId };
      return context.json(told, 201);
    });
  }

  routes.get('/', context => {
    const query = readQuery(context, listQuery);
    if (!query.ok) return refuse(context, query.error);
    const found = sessions.list();
    if (!found.ok) return refuse(context, found.error);
    const page = pageOf(found.value, query.value, ({ sessionId: id }) => id);
    if (!page.ok) return refuse(context, page.error);
    const { items, next } = page.value;
    const list: SessionList = sessionList.parse({ sessions: items, ...(next !== undefined && { next }) });
    return context.json(list);
  });

  routes.get('/:session', async context => {
    const id = knownId(context.req.param('session'));
    if (!id.ok) return refuse(context, id.error);
    const found = await sessions.show(id.value);
    return answer(context, found.ok ? ok<SessionDetail>(sessionDetail.parse(found.value)) : found);
  });

  routes.post('/:session/gaps/:gap/answer', async context => {
    const id = knownId(context.req.param('session'));
    if (!id.ok) return refuse(context, id.error);
    const body = await readBody(context, gapAnswerBody);
    if (!body.ok) return refuse(context, body.error);
    return answer(context, await sessions.answer(id.value, context.req.param('gap'), body.value));
  });
  return routes;
}

/** The catalogue of guided workflows. */
export function workflowRoutes(tools: Pick<GuidedTools, 'list' | 'inspect'>): Hono {
  const routes = new Hono();

  routes.get('/', async context => {
    const query = readQuery(context, listQuery);
    if (!query.ok) return refuse(context, query.error);
    const listed = await tools.list({});
    if (!listed.ok) return refuse(context, listed.error);
    const page = pageOf(listed.value.workflows, query.value, ({ workflowId }) => workflowId);
    if (!page.ok) return refuse(context, page.error);
    const { items: workflows, next } = page.value;
    const list: WorkflowList = workflowList.parse({
      ...listed.value,
      workflows,
      ...(next !== undefined && { next }),
    });
    return context.json(list);
  });

  routes.get('/:workflow', async context => {
    const inspected = await tools.inspect({ workflowId: context.req.param('workflow') });
    return answer(context, inspected.ok ? ok(workflowDetail.parse(inspected.value)) : inspected);
  });
  return routes;
}

function knownId(given: string): Result<SessionId, ErrorEnvelope> {
  const id = sessionId.safeParse(given);
  if (id.success) return ok(id.data);
  return err(
    failure('session/unknown', {
      message: `There is no session ${given.slice(0, 64)}.`,
      suggestion: 'List the sessions and give the whole id of one.',
    }),
  );
}
