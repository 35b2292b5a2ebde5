import type { AllRuns } from '@signalbox/app/all-runs';
import { err, runId } from '@signalbox/model';
import { invalid } from '../http/answer.ts';
import type { Serving } from '../http/handlers.ts';
import { listed } from './paging.ts';

/** The one queue of decisions (R7), as the contract's approvals. */
export function approvalHandlers(all: Pick<AllRuns, 'decisions' | 'answer'>): Serving<'decisions' | 'resolve'> {
  return {
    async decisions(_, asked) {
      const run = runId.optional().safeParse(asked.run);
      if (!run.success) return err(invalid('"run" must be the full id of a run'));
      return listed('approvals', await all.decisions({ ...asked, run: run.data }));
    },
    resolve: ({ decision }, body, { user }) => all.answer(decision, body, user),
  };
}
