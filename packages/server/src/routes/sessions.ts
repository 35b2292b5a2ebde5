import type { GuidedSessions, GuidedTools } from '@signalbox/app/guided';
import { ok, sessionDetail, sessionList, workflowDetail, workflowList } from '@signalbox/model';
import type { Serving } from '../http/handlers.ts';
import { listed, pageOf } from './paging.ts';

/** Guided sessions: their walks, what waits in them, and the person's answers. */
export function sessionHandlers(
  sessions: GuidedSessions,
): Serving<'sessions' | 'session' | 'answerGap' | 'workflowForms' | 'checkWorkflow' | 'copyWorkflow' | 'saveWorkflow'> {
  return {
    sessions(_, asked) {
      const found = sessions.list();
      if (!found.ok) return found;
      const page = listed(
        'sessions',
        pageOf(found.value, asked, ({ sessionId }) => sessionId),
      );
      return page.ok ? ok(sessionList.parse(page.value)) : page;
    },
    async session({ session }) {
      const found = await sessions.show(session);
      return found.ok ? ok(sessionDetail.parse(found.value)) : found;
    },
    answerGap: ({ session, gap }, body) => sessions.answer(session, gap, body),
    workflowForms: ({ workflow }, { pinned }) => sessions.forms(workflow, pinned),
    async checkWorkflow(_, { source }) {
      const checked = await sessions.check(source);
      return ok(
        checked.ok
          ? { workflowHash: checked.value.workflowHash, problems: checked.value.warnings }
          : { problems: checked.error.problems },
      );
    },
    copyWorkflow: ({ workflow }, body) => sessions.copy(workflow, body),
    saveWorkflow: ({ workflow }, body) => sessions.save(workflow, body),
  };
}

/** The catalogue of guided workflows. */
export function workflowHandlers(tools: Pick<GuidedTools, 'list' | 'inspect'>): Serving<'workflows' | 'workflow'> {
  return {
    async workflows(_, asked) {
      const all = await tools.list({});
      if (!all.ok) return all;
      const page = listed(
        'workflows',
        pageOf(all.value.workflows, asked, ({ workflowId }) => workflowId),
      );
      return page.ok ? ok(workflowList.parse({ ...all.value, ...page.value })) : page;
    },
    async workflow({ workflow }) {
      const inspected = await tools.inspect({ workflowId: workflow });
      return inspected.ok ? ok(workflowDetail.parse(inspected.value)) : inspected;
    },
  };
}

/** Starting sessions. */
export function sessionStarts(tools: Pick<GuidedTools, 'start'>): Serving<'startSession'> {
  return {
    async startSession(_, body, { request }) {
      const startKey = request.headers.get('idempotency-key');
      const started = await tools.start({ ...body, ...(startKey !== null && { startKey }) }, 'person');
      if (!started.ok) return started;
      const { sessionId, runId, workflow } = started.value;
      return ok({ sessionId, runId, workflowId: workflow.workflowId });
    },
  };
}
