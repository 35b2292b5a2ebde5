import type { GuidedRuns } from '@signalbox/app/guided';
import type { RunHost } from '@signalbox/app/runs';
import { Bug, err, ok, runId } from '@signalbox/model';
import { invalid } from '../http/answer.ts';
import type { Serving } from '../http/handlers.ts';
import { listDecisions } from '../views/decision-list.ts';
import { decisionView, resolutionOf } from '../views/decision-view.ts';
import { listed } from './paging.ts';

/** The one queue of decisions (R7), as the contract's approvals. */
export function approvalHandlers(host: RunHost, guided?: GuidedRuns): Serving<'decisions' | 'resolve'> {
  return {
    async decisions(_, asked) {
      const run = runId.optional().safeParse(asked.run);
      if (!run.success) return err(invalid('"run" must be the whole id of a run'));
      return listed('approvals', await listDecisions(host.reader, guided, { ...asked, run: run.data }));
    },
    async resolve({ decision: { id, kind, run } }, body, { user }) {
      const { proposalHash } = body;
      const resolution = resolutionOf(body, kind);
      if (run === undefined) {
        if (guided === undefined) throw new Bug('a gap was found without guided runs');
        return guided.answer(id, resolution, proposalHash);
      }
      const answered = await host.answer(id, { resolution, ...(proposalHash && { proposalHash }) }, user);
      return answered.ok ? ok(decisionView(run, answered.value)) : answered;
    },
  };
}
