import { err, failure } from '@signalbox/model';
import type { Place, Serving } from '../http/handlers.ts';

/** Operations of graph runs only (R20): a plan lays out every other run. */
export const graphHandlers: Serving<'addNode' | 'changeNode' | 'addEdge' | 'removeEdge' | 'chat'> = {
  addNode: refusal('nodes cannot be added to it'),
  changeNode: refusal('its nodes cannot be changed'),
  addEdge: refusal('it has no edges'),
  removeEdge: refusal('it has no edges'),
  chat: refusal('its nodes take no messages', 'Send a signal that the plan reads, or answer a waiting decision.'),
};

function refusal(what: string, suggestion = 'Change the plan, and resume the run with the changed plan.') {
  return ({ run: { id: run } }: Place<'addNode'>) =>
    err(
      failure('run/not-a-graph', {
        message: `Run ${run} is driven by a plan, not a graph: ${what}.`,
        suggestion,
        details: { run },
      }),
    );
}
