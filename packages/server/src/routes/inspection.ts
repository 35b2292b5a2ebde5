import type { RunHost } from '@signalbox/app/host';
import { ok } from '@signalbox/model';
import type { Serving } from '../http/handlers.ts';

/** Inputs of nodes, known plans and their inputs, and verification of runs. */
export function inspectionHandlers({
  inspection,
}: Pick<RunHost, 'inspection'>): Serving<'nodeInput' | 'verify' | 'replay' | 'plans' | 'planFiles' | 'describePlan'> {
  return {
    nodeInput: ({ run, node }, { frame }) => inspection.nodeInput(run.id, node, frame),
    verify: ({ run }, body, { request: { signal } }) => inspection.verify(run.id, { ...body, signal }),
    replay: ({ run }, body, { request: { signal } }) => inspection.replay(run.id, { ...body, signal }),
    planFiles: () => ok(inspection.planFiles()),
    plans: (_, asked) => inspection.plans(asked),
    describePlan: (_, { file }, { request: { signal } }) => inspection.describePlan(file, signal),
  };
}
