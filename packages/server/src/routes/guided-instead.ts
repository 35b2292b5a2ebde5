import type { AllRuns } from '@signalbox/app/all-runs';
import { errorEnvelope, failure, type RunSummary, runId } from '@signalbox/model';
import type { MiddlewareHandler } from 'hono';
import { refuse } from '../http/answer.ts';
import type { Asked } from '../http/asked.ts';

/**
 * Turns an unknown-run refusal into one that says what to do instead, if the run is guided. It acts only on refusals, so it costs nothing
 * for plan runs.
 */
export function guidedInstead(runs: Pick<AllRuns, 'find'>): MiddlewareHandler<Asked> {
  return async (context, next) => {
    await next();
    if (context.res.status !== 404) return;
    const id = runId.safeParse(context.req.param('run'));
    const run = id.success ? await runs.find(id.data) : undefined;
    if (run?.ok !== true || run.value?.kind !== 'guided') return;
    const refused = errorEnvelope.safeParse(await context.res.clone().json());
    if (refused.data?.code !== 'run/unknown') return;
    const asked = new URL(context.req.url).pathname.split('/').slice(4);
    context.res = refuse(context, instead(run.value, context.req.method, asked));
  };
}

function instead({ id: run, guided }: RunSummary, method: string, [what = '', , verb]: readonly string[]) {
  const sessionId = guided?.sessionId ?? '';
  const details = { run, sessionId };
  const isGraphs = what === 'edges' || what === 'chat' || (what === 'nodes' && verb === undefined);
  if (isGraphs && method !== 'GET') {
    return failure('run/not-a-graph', {
      message: `Run ${run} is guided by a workflow, not a graph: its steps are those of the workflow, and an external agent walks them.`,
      suggestion:
        what === 'chat'
          ? 'Answer what it waits for (GET /api/approvals?kind=guided), or talk to the agent that walks it.'
          : 'Change the source of the workflow, and let the agent start it again.',
      details,
    });
  }
  return failure('run/guided', {
    message: `Run ${run} is guided: an external agent walks it through session ${sessionId}, and ${whyNot(what, verb)}.`,
    suggestion: todo(what, verb, sessionId),
    details,
  });
}

function whyNot(what: string, verb: string | undefined): string {
  switch (verb ?? what) {
    case 'pause':
    case 'stop':
    case 'terminate':
    case 'cancel':
      return 'nothing here drives it';
    case 'resume':
    case 'retry':
    case 'signals':
    case 'reset':
      return 'only that agent can advance it';
    case 'fork':
    case 'rerun':
      return 'it forks when that agent continues from an earlier place';
    case 'keep':
    case 'unkeep':
      return 'it is kept for as long as its session';
    case 'bundle':
      return 'it is exported with its session';
    default:
      return 'it has no frames, tasks or plan state';
  }
}

function todo(what: string, verb: string | undefined, session: string): string {
  switch (verb ?? what) {
    case 'pause':
    case 'stop':
    case 'terminate':
    case 'cancel':
      return 'Tell the agent to stop; its work so far is kept, and can be resumed.';
    case 'resume':
    case 'retry':
    case 'signals':
    case 'reset':
      return `Tell the agent to continue: resume_session finds session ${session}, continue_workflow takes the next step.`;
    case 'fork':
    case 'rerun':
      return 'Give the agent the state token of the earlier place, or of a checkpoint: continue_workflow continues from there.';
    case 'keep':
    case 'unkeep':
      return `Run "signalbox sessions ${what} ${session}".`;
    case 'bundle':
      return `Run "signalbox export ${session}".`;
    default:
      return `See GET /api/runs/:run, its /events, or GET /api/sessions/${session}.`;
  }
}
