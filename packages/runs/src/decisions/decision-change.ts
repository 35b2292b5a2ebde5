import { type ApprovalId, type ErrorEnvelope, err, failure, type Json, ok, type Result } from '@signalbox/model';
import type { Decision, DecisionWrite } from './decision.ts';

export type DecisionError = ErrorEnvelope<
  'decision/unknown' | 'decision/answered' | 'decision/withdrawn' | 'decision/stale-proposal' | 'run/writes-refused'
>;

/**
 * A decision after a write, or why the write is void (R7). A decision is answered once: a second answer is refused with the first outcome.
 * An answer to a proposal that has changed is void.
 */
export function changeDecision(before: Decision | undefined, write: DecisionWrite): Result<Decision, DecisionError> {
  if (write.kind === 'ask') {
    return before === undefined ? ok({ ...write.decision, status: 'open' }) : err(askedBefore(before));
  }
  if (before === undefined) return err(unknown(write.id));
  if (write.kind === 'deliver') {
    if (before.status !== 'answered') return err(notAnswered(before));
    return ok({ ...before, deliveredAt: before.deliveredAt ?? write.at });
  }
  if (before.status === 'answered') return err(answered(before));
  if (before.status === 'withdrawn') return err(withdrawn(before));
  switch (write.kind) {
    case 'propose':
      return ok({ ...before, proposal: write.proposal, proposalHash: write.proposalHash });
    case 'withdraw':
      return ok({ ...before, status: 'withdrawn', closedAt: write.at });
    case 'answer':
      if (write.proposalHash !== undefined && write.proposalHash !== before.proposalHash) return err(stale(before));
      return ok({
        ...before,
        status: 'answered',
        resolution: write.resolution,
        answeredBy: write.by,
        closedAt: write.at,
      });
  }
}

function unknown(id: ApprovalId): DecisionError {
  return failure('decision/unknown', {
    message: `There is no decision ${id}.`,
    suggestion: 'List the open decisions and answer one of them.',
    details: { decision: id },
  });
}

function answered({ id, resolution, answeredBy, proposalHash }: Decision): DecisionError {
  return failure('decision/answered', {
    message: `Decision ${id} was answered before${answeredBy === undefined ? '' : ` by ${answeredBy}`}.`,
    suggestion: 'Nothing is left to do: the first answer counts, and is in the details.',
    // Plain data by its schema; its optional members keep the type from expressing that.
    details: { decision: id, proposalHash, resolution: (resolution ?? null) as Json },
  });
}

function withdrawn({ id }: Decision): DecisionError {
  return failure('decision/withdrawn', {
    message: `Decision ${id} was withdrawn: what it was about is gone.`,
    suggestion: 'Nothing is left to do. List the open decisions to see what waits now.',
    details: { decision: id },
  });
}

function stale({ id, proposalHash }: Decision): DecisionError {
  return failure('decision/stale-proposal', {
    message: `Decision ${id} is about something else by now: the proposal changed after it was shown.`,
    suggestion: 'Look at the proposal as it is now and answer again.',
    details: { decision: id, proposalHash },
  });
}

function askedBefore({ id }: Decision): DecisionError {
  return failure('run/writes-refused', {
    message: `Decision ${id} was asked before.`,
    suggestion: 'Read the decision: it waits, or has its answer.',
    details: { decision: id },
  });
}

function notAnswered({ id, status }: Decision): DecisionError {
  return failure('run/writes-refused', {
    message: `Decision ${id} is ${status}: there is no answer to deliver.`,
    suggestion: 'Deliver a decision once it is answered.',
    details: { decision: id, status },
  });
}
