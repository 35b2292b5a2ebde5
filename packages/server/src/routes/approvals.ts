import type { AllRuns } from '@signalbox/app/all-runs';
import type { FleetDesk } from '@signalbox/app/fleet';
import { err, ok, runId } from '@signalbox/model';
import { invalid } from '../http/answer.ts';
import type { Serving } from '../http/handlers.ts';
import { listed } from './paging.ts';

/** The one queue of decisions (R7), as the contract's approvals. Those of the fleet's agents follow on the last page. */
export function approvalHandlers(
  all: Pick<AllRuns, 'decisions' | 'answer'>,
  fleet: Pick<FleetDesk, 'approvals' | 'approval' | 'resolve'> | undefined,
): Serving<'decisions' | 'resolve'> {
  return {
    async decisions(_, { kind, ...asked }) {
      const run = runId.optional().safeParse(asked.run);
      if (!run.success) return err(invalid('"run" must be the full id of a run'));
      const ofAgents = () =>
        run.data !== undefined || (kind !== undefined && kind !== 'agent')
          ? []
          : (fleet?.approvals(asked.status ?? 'open') ?? []);
      if (kind === 'agent') return ok({ approvals: ofAgents() });
      const page = await all.decisions({ ...asked, run: run.data, ...(kind && { kind }) });
      if (!page.ok || page.value.next !== undefined) return listed('approvals', page);
      return ok({ approvals: [...page.value.items, ...ofAgents()] });
    },
    async resolve({ decision }, body, { user }) {
      if (decision.kind !== 'agent' || fleet === undefined) return all.answer(decision, body, user);
      const answered = await fleet.resolve(decision.approvalId, body, user);
      return answered.ok ? ok(fleet.approval(decision.approvalId) ?? decision) : answered;
    },
  };
}
