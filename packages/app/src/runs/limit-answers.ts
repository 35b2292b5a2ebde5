import { type ErrorEnvelope, ok, type Result, type RunId } from '@signalbox/model';
import type { Decision, RunReader } from '@signalbox/runs';
import type { DecisionDesk } from '../decisions/decision-desk.ts';
import { limitOf, raisedLimit, whyReached } from '../decisions/limit-decisions.ts';
import type { createRaise } from './raise-limits.ts';
import type { RunHost } from './run-host.ts';

export interface LimitAnswerPorts {
  readonly reader: Pick<RunReader, 'decisions'>;
  readonly decisions: Pick<DecisionDesk, 'deliver'>;
  readonly raise: ReturnType<typeof createRaise>;
  readonly stop: RunHost['act'];
}

/** What follows from an answer about a limit. The answer is durable first: what a crash left undone is done at the next resume. */
export function createLimitAnswers({ reader, decisions, raise, stop }: LimitAnswerPorts) {
  /** Raises the limit, or stops the run. */
  async function deliver(
    run: RunId,
    decision: Decision,
  ): Promise<Result<'driven' | 'rests' | 'stopped', ErrorEnvelope>> {
    const { answeredBy: by = 'signalbox' } = decision;
    const limits = raisedLimit(decision);
    const reason = `A limit was reached and not raised. ${whyReached(decision)}`;
    const done = limits === undefined ? await stop(run, { kind: 'stop', reason }, by) : await raise(run, limits, by);
    if (!done.ok) return done;
    await decisions.deliver(run, decision.id);
    return ok(done.value ?? 'stopped');
  }

  return {
    deliver,
    /** Answers whose process died before they were carried out. */
    async deliverLate(run: RunId): Promise<Result<void, ErrorEnvelope>> {
      for (const { decision } of await reader.decisions({ run, status: ['answered'] })) {
        if (decision.deliveredAt !== undefined || limitOf(decision) === undefined) continue;
        // Who resumes a run that was not to go on says so by that.
        if (raisedLimit(decision) === undefined) await decisions.deliver(run, decision.id);
        else {
          const done = await deliver(run, decision);
          if (!done.ok) return done;
        }
      }
      return ok(undefined);
    },
  };
}
