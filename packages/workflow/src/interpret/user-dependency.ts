import { truncateUtf8 } from '@signalbox/model';
import type { CompiledStep } from '../compile/compiled-workflow.ts';
import { budgets } from '../session/bounded-text.ts';
import type { NonAssumableChoiceKind, UserOnlyDependencyReason } from '../session/reasons.ts';
import type { ApprovalNeed } from './confirmation.ts';
import type { Reason } from './reason.ts';

/** Something that the agent says only the person can give. */
export interface ReportedNeed {
  readonly reason: UserOnlyDependencyReason;
  readonly summary: string;
  /** What kind of choice it is; only for `needs_user_choice`. */
  readonly choice?: NonAssumableChoiceKind | undefined;
}

/** What the person said at this place, and to what, as it was recorded. */
export interface UserAnswer {
  readonly reason: UserOnlyDependencyReason;
  readonly asked: string;
  readonly answer: 'approved' | 'denied' | 'answered';
}

/** A question to the person about this step that nobody has answered yet, as it was recorded. */
export type OpenQuestion = Pick<UserAnswer, 'reason' | 'asked'>;

export interface PersonsPart {
  /** What this attempt asks of the person. */
  readonly needs: readonly ReportedNeed[];
  readonly answers: readonly UserAnswer[];
  readonly open: readonly OpenQuestion[];
}

/**
 * What waits for the person. A choice counts only where the workflow marks its kind as one that may not be assumed;
 * any other choice is the agent's, and `assumable` gives it back. A question that was asked waits until the person answers:
 * an attempt that no longer asks it does not settle it, and `stillOpen` has it again.
 */
export function judgeUserDependencies(
  step: CompiledStep,
  need: ApprovalNeed,
  { needs, answers, open }: PersonsPart,
): {
  readonly reasons: readonly Reason[];
  readonly stillOpen: readonly Reason[];
  readonly assumable: readonly ReportedNeed[];
} {
  const { stepId, nonAssumableChoices = [] } = step;
  const assumable = needs.filter(
    ({ reason, choice }) =>
      reason === 'needs_user_choice' && (choice === undefined || !nonAssumableChoices.includes(choice)),
  );
  const waiting = needs
    .filter(reported => !assumable.includes(reported))
    .map(({ reason, summary }) => userReason(stepId, reason, `Step ${stepId} waits for the person: ${summary}`))
    .filter(waits => !answers.some(answer => isAnswerTo(answer, waits)));
  const reasons = [...approvalReasons(stepId, need, answers), ...waiting];
  const stillOpen = open
    .map(({ reason, asked }) => userReason(stepId, reason, asked))
    .filter(waits => ![...answers, ...reasons.map(questionOf)].some(other => isAnswerTo(other, waits)));
  return { reasons, stillOpen, assumable };
}

/** Only an answer to the approval itself counts: what else the agent asked and was allowed approves no step. */
function approvalReasons(stepId: string, need: ApprovalNeed, answers: readonly UserAnswer[]): readonly Reason[] {
  if (need !== 'human_approval') return [];
  const wanted = userReason(
    stepId,
    'needs_user_approval',
    `Step ${stepId} needs the approval of a person before it can be passed.`,
  );
  const denied = userReason(stepId, 'needs_user_approval', `The person did not approve step ${stepId}.`);
  const last = answers.findLast(answer => isAnswerTo(answer, wanted) || isAnswerTo(answer, denied));
  if (last === undefined) return [wanted];
  return last.answer === 'approved' ? [] : [denied];
}

const questionOf = ({ reason, message }: Reason): OpenQuestion => ({
  reason: reason.detail as UserOnlyDependencyReason,
  asked: truncateUtf8(message, budgets.summary),
});

/** One answer settles one question: what is asked in other words waits for an answer of its own. */
function isAnswerTo({ reason, asked }: OpenQuestion, waits: Reason): boolean {
  return reason === waits.reason.detail && asked === truncateUtf8(waits.message, budgets.summary);
}

const fixes: Readonly<Record<UserOnlyDependencyReason, string>> = {
  needs_user_secret_or_token: 'Ask the person to put the secret where the tools find it; do not ask for its value.',
  needs_user_account_access: 'Ask the person to give access, then try again.',
  needs_user_artifact: 'Ask the person for the file or text, then try again.',
  needs_user_choice: 'Ask the person to choose; show the options and what follows from each.',
  needs_user_approval:
    'Show the person what would be done, and wait until they answer in the console or with "signalbox approve"; you cannot.',
  needs_user_environment_action: 'Tell the person exactly what to do on the machine, then try again.',
};

function userReason(stepId: string, detail: UserOnlyDependencyReason, message: string): Reason {
  return {
    reason: { category: 'user_only_dependency', detail },
    pointer: { kind: 'workflow_step', stepId },
    message,
    suggestedFix: fixes[detail],
  };
}
