import { truncateUtf8 } from '@signalbox/model';
import type { CompiledStep } from '../compile/compiled-workflow.ts';
import { budgets } from '../session/bounded-text.ts';
import type { NonAssumableChoiceKind, UserOnlyDependencyReason } from '../session/reasons.ts';
import type { ApprovalNeed } from './confirmation.ts';
import type { Reason } from './reason.ts';

/** Something that, according to the agent, only the person can give. */
export interface ReportedNeed {
  readonly reason: UserOnlyDependencyReason;
  readonly summary: string;
  /** What kind of choice it is; only for `needs_user_choice`. */
  readonly choice?: NonAssumableChoiceKind | undefined;
}

/** The person's recorded answer at this place, and its question. */
export interface UserAnswer {
  readonly reason: UserOnlyDependencyReason;
  readonly asked: string;
  readonly answer: 'approved' | 'denied' | 'answered';
}

/** A recorded question to the person about this step, still unanswered. */
export type OpenQuestion = Pick<UserAnswer, 'reason' | 'asked'>;

export interface PersonsPart {
  /** This attempt's questions to the person. */
  readonly needs: readonly ReportedNeed[];
  readonly answers: readonly UserAnswer[];
  readonly open: readonly OpenQuestion[];
}

/**
 * What waits for the person. A choice counts only if the workflow marks its kind as one that may not be assumed; any other
 * choice is the agent's, and is returned in `assumable`. A question waits until the person answers: an attempt that no
 * longer asks it does not settle it, and it is listed again in `stillOpen`.
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

/** The question that a step's need opens as soon as the step is pending. */
export function approvalQuestion(stepId: string): Reason {
  return userReason(
    stepId,
    'needs_user_approval',
    `Step ${stepId} needs the approval of a person before it can be passed.`,
  );
}

/** Only an answer to the approval itself counts: approving another question of the agent approves no step. */
function approvalReasons(stepId: string, need: ApprovalNeed, answers: readonly UserAnswer[]): readonly Reason[] {
  if (need !== 'human_approval') return [];
  const wanted = approvalQuestion(stepId);
  const denied = userReason(stepId, 'needs_user_approval', `The person did not approve step ${stepId}.`);
  const last = answers.findLast(answer => isAnswerTo(answer, wanted) || isAnswerTo(answer, denied));
  if (last === undefined) return [wanted];
  return last.answer === 'approved' ? [] : [denied];
}

const questionOf = ({ reason, message }: Reason): OpenQuestion => ({
  reason: reason.detail as UserOnlyDependencyReason,
  asked: truncateUtf8(message, budgets.summary),
});

/** One answer settles one question: a reworded question needs its own answer. */
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
