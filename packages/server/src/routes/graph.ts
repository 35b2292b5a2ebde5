import type { RunHost } from '@signalbox/app/host';
import { err, failure } from '@signalbox/model';
import type { Place, Serving } from '../http/handlers.ts';

/** Operations of graph runs only (R20): a plan lays out every other run. A message goes to a plan's agents, too. */
export function graphHandlers(
  host: Pick<RunHost, 'tell'>,
): Serving<'addNode' | 'changeNode' | 'addEdge' | 'removeEdge' | 'chat'> {
  return {
    addNode: refusal('nodes cannot be added to it'),
    changeNode: refusal('its nodes cannot be changed'),
    addEdge: refusal('it has no edges'),
    removeEdge: refusal('it has no edges'),
    chat: ({ run }, { node, text }, { user }) => host.tell(run.id, node, text, user),
  };
}

function refusal(what: string) {
  return ({ run: { id: run } }: Place<'addNode'>) =>
    err(
      failure('run/not-a-graph', {
        message: `Run ${run} is driven by a plan, not a graph: ${what}.`,
        suggestion: 'Change the plan, and resume the run with the changed plan.',
        details: { run },
      }),
    );
}
