import type { RunReader } from '@signalbox/app/runs';
import { type ErrorEnvelope, failure, type RunId } from '@signalbox/model';
import { type Context, Hono } from 'hono';
import { refuse } from '../http/answer.ts';
import { knownRun } from './known-run.ts';

/** What only a run that is a graph can do (R20): its plan lays out every other run. */
export function graphRoutes(reader: RunReader): Hono {
  const routes = new Hono();
  const refuseOf = (what: string, instead: string) => async (context: Context) => {
    const run = await knownRun(reader, context.req.param('run') ?? '');
    return refuse(context, run.ok ? notAGraph(run.value.id, what, instead) : run.error);
  };
  const plan = 'Change the plan, and resume the run with the plan as it is now.';
  routes.post('/:run/nodes', refuseOf('nodes cannot be added to it', plan));
  routes.patch('/:run/nodes/:node', refuseOf('its nodes cannot be changed', plan));
  routes.post('/:run/edges', refuseOf('it has no edges', plan));
  routes.delete('/:run/edges/:edge', refuseOf('it has no edges', plan));
  routes.post(
    '/:run/chat',
    refuseOf('its nodes take no messages', 'Send a signal that the plan reads, or answer a decision that waits.'),
  );
  return routes;
}

function notAGraph(run: RunId, what: string, suggestion: string): ErrorEnvelope<'run/not-a-graph'> {
  return failure('run/not-a-graph', {
    message: `Run ${run} is driven by a plan, not a graph: ${what}.`,
    suggestion,
    details: { run },
  });
}
