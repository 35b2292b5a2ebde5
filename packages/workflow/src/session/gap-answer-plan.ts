import {
  canonicalJson,
  type Digest,
  type ErrorEnvelope,
  err,
  failure,
  type Hasher,
  ok,
  type Result,
  type SessionId,
} from '@signalbox/model';
import { type Gap, projectGaps } from '../projections/gaps.ts';
import { resolutionIdOf } from './advance-plan.ts';
import type { DomainEvent } from './domain-event.ts';
import { type GapAnswer, gapAnswer } from './event-data.ts';
import { draftOf, type SessionPlan } from './event-draft.ts';
import type { GapId } from './ids.ts';
import { checkInput, type InvalidInput } from './invalid-input.ts';

export type AnswerError = InvalidInput | ErrorEnvelope<'decision/unknown' | 'decision/stale-proposal'>;

/** A gap is answered once; a second answer returns the first outcome. */
export type AnswerPlan = ({ readonly kind: 'answer' } & SessionPlan) | { readonly kind: 'answered'; readonly gap: Gap };

/** The person's answer to a gap that waits for it, as the record that resolves the gap. `shownNow` is the hash of what is shown of it now. */
export function planGapAnswer(
  hasher: Hasher,
  sessionId: SessionId,
  history: readonly DomainEvent[],
  gapId: GapId,
  given: GapAnswer,
  shownNow: (gap: Gap) => Digest = gap => proposalHash(hasher, gap),
): Result<AnswerPlan, AnswerError> {
  const gap = projectGaps(history).find(known => known.gapId === gapId);
  if (gap === undefined || gap.reason.category !== 'user_only_dependency') return err(unknownGap(sessionId, gapId));
  if (gap.resolvedBy !== undefined) return ok({ kind: 'answered', gap });
  const answer = checkInput(gapAnswer, given, 'answer');
  if (!answer.ok) return answer;
  if (answer.value.shown !== undefined && answer.value.shown !== shownNow(gap)) {
    return err(staleProposal(gapId));
  }
  const { runId, nodeId, reason } = gap;
  const draft = draftOf({
    sessionId,
    kind: 'gap_recorded',
    scope: { runId, nodeId },
    data: {
      gapId: resolutionIdOf({ sessionId }, gapId),
      severity: 'info',
      reason,
      summary: `The person answered: ${answer.value.kind}.`,
      resolution: { kind: 'resolves', resolvesGapId: gapId },
      answer: answer.value,
    },
  });
  return ok({ kind: 'answer', snapshots: [], plan: { events: [draft] } });
}

/** The hash of a gap's own words, for a person who sees no more than those. */
export function proposalHash(hasher: Hasher, { gapId, reason, summary }: Gap): Digest {
  return hasher(canonicalJson({ gapId, reason, summary }));
}

function unknownGap(sessionId: SessionId, gapId: GapId) {
  return failure('decision/unknown', {
    message: `Session ${sessionId} has no gap ${gapId} that waits for a person.`,
    suggestion: 'List the decisions again and answer one of those.',
    details: { sessionId, gapId },
  });
}

function staleProposal(gapId: GapId) {
  return failure('decision/stale-proposal', {
    message: `The answer to gap ${gapId} was given to something else than what it says.`,
    suggestion: 'Read the decision again and answer what it says now.',
    details: { gapId },
  });
}
