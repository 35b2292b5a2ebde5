import type { Gap, WaitingGap } from '@signalbox/app/guided';
import { type Paint, shown } from '../terminal.ts';

/** A gap of a guided session, as shown to a person. */
export interface ShownGap {
  readonly id: string;
  readonly sessionId: string | undefined;
  /** What is needed. */
  readonly detail: string;
  readonly summary: string;
  /** The hash of what is shown. */
  readonly hash: string;
  /** The answer; undefined while it waits. */
  readonly answer: string | undefined;
}

export function shownGap({ sessionId, gap, shown: hash }: WaitingGap): ShownGap {
  const { gapId: id, reason, summary, resolvedBy } = gap;
  const answer = resolvedBy === undefined ? undefined : answerText(gap);
  return { id, sessionId, detail: reason.detail, summary, hash, answer };
}

/** A gap of a guided session with how to answer it, or its answer. */
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
  if (answer === undefined) return 'a later attempt supplied it';
  if (answer.kind === 'answered') return answer.value;
  return answer.note === undefined ? answer.kind : `${answer.kind}: ${answer.note}`;
}

/** The command to answer with: yes or no, or a text. */
function answerHint(detail: string, id: string): string {
  const isYesOrNo = detail === 'needs_user_approval' || detail === 'needs_user_environment_action';
  return isYesOrNo ? `signalbox approve | deny ${id}` : `signalbox approve ${id} --value TEXT`;
}
