import type { GuidedRuns } from '@signalbox/app/guided';
import type { Decision, RunReader, RunRecord } from '@signalbox/app/runs';
import {
  type ApprovalId,
  approvalId,
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type Result,
  type RunId,
  type RunKind,
  runId,
  type SessionId,
  sessionId,
} from '@signalbox/model';
import { knownRun } from '../routes/known-run.ts';

/** What the parameters of a path can name. They are found before the input is looked at: that there is no such thing is said first. */
export interface Places {
  /** A run of a plan. */
  run(given: string): Promise<Result<RunRecord, ErrorEnvelope>>;
  anyRun(given: string): Promise<Result<AnyRun, ErrorEnvelope>>;
  session(given: string): Result<SessionId, ErrorEnvelope>;
  decision(given: string): Promise<Result<FoundDecision, ErrorEnvelope>>;
}

/** A run of a plan or a guided one. */
export interface AnyRun {
  readonly id: RunId;
  readonly kind: RunKind;
}

export interface FoundDecision {
  readonly id: ApprovalId;
  readonly kind: Decision['kind'];
  /** The run of a plan that asks; of a guided one if it is absent. */
  readonly run?: RunId;
}

export function createPlaces(reader: RunReader, guided: GuidedRuns | undefined): Places {
  return {
    run: given => knownRun(reader, given),
    async anyRun(given) {
      const known = await knownRun(reader, given);
      if (known.ok) return ok({ id: known.value.id, kind: 'plan' });
      const id = runId.safeParse(given);
      const found = id.success ? guided?.find(id.data) : undefined;
      if (found?.ok === false) return found;
      return found?.value === undefined ? known : ok({ id: found.value.id, kind: 'guided' });
    },
    session(given) {
      const id = sessionId.safeParse(given);
      return id.success ? ok(id.data) : err(unknownSession(given));
    },
    async decision(given) {
      const id = approvalId.safeParse(given);
      if (!id.success) return err(unknownDecision(given));
      const found = await reader.decision(id.data);
      if (found !== undefined) return ok({ id: id.data, kind: found.decision.kind, run: found.run });
      const gap = guided?.decision(id.data);
      if (gap?.ok === false) return gap;
      return gap?.value === undefined
        ? err(unknownDecision(given))
        : ok({ id: id.data, kind: gap.value.decision.kind });
    },
  };
}

function unknownSession(given: string): ErrorEnvelope {
  return failure('session/unknown', {
    message: `There is no session ${given.slice(0, 64)}.`,
    suggestion: 'List the sessions and give the whole id of one.',
  });
}

function unknownDecision(given: string): ErrorEnvelope {
  const shown = given.slice(0, 64);
  return failure('decision/unknown', {
    message: `There is no decision ${shown}.`,
    suggestion: 'List the open decisions and answer one of them.',
    details: { decision: shown },
  });
}
