import type { Gap, WaitingGap } from '@signalbox/app/guided';
import { type Paint, shown } from '../terminal.ts';

/** What a guided session waits for, as it is shown to a person. */
export interface ShownGap {
  readonly id: string;
  readonly sessionId: string | undefined;
  /** What is needed. */
  readonly detail: string;
  readonly summary: string;
  /** The hash of what is shown. */
  readonly hash: string;
  /** What was said; undefined while it waits. */
  readonly answer: string | undefined;
}

export function shownGap({ sessionId, gap, shown: hash }: WaitingGap): ShownGap {
  const { gapId: id, reason, summary, resolvedBy } = gap;
  const answer = resolvedBy === undefined ? undefined : answerText(gap);
  return { id, sessionId, detail: reason.detail, summary, hash, answer };
}

/** Something that a guided session waits for and how it is answered, or what the answer was. */
export function describeGap({ id, sessionId, detail, summary, hash, answer }: ShownGap, paint: Paint): string {
  const lines = [
    `${paint.strong(id)}  ${detail}  ${paint.faint(`of guided session ${sessionId}`)}`,
    ...summary.split('\n').map(line => `  ${shown(line)}`),
  ];
  if (answer !== undefined) lines.push(`  ${paint.good('✓')} ${shown(answer)}`);
  else lines.push(paint.faint(`  ${answerHint(detail, id)}`), paint.faint(`  what is shown: ${hash}`));
  return lines.join('\n');
}

export function answerText({ answer }: Pick<Gap, 'answer'>): string {
  if (answer === undefined) return 'a later attempt had what was missing';
  if (answer.kind === 'answered') return answer.value;
  return answer.note === undefined ? answer.kind : `${answer.kind}: ${answer.note}`;
}

/** Whether a yes is enough, or something has to be said. */
function answerHint(detail: string, id: string): string {
  const isYesOrNo = detail === 'needs_user_approval' || detail === 'needs_user_environment_action';
  return isYesOrNo ? `signalbox approve | deny ${id}` : `signalbox approve ${id} --value TEXT`;
}
