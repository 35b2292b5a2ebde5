import type { Gap, WaitingGap } from '@signalbox/app/guided';
import { type Paint, shown } from '../terminal.ts';

/** A gap of a guided session, as shown to a person. */
export interface ShownGap {
  readonly id: string;
  readonly sessionId: string | undefined;
  /** What is needed. */
  readonly detail: string;
  readonly summary: string;
  /** The step that it is about, and what the agent proposed there. */
  readonly about: readonly string[];
  /** The hash of what is shown. */
  readonly hash: string;
  /** The answer; undefined while it waits. */
  readonly answer: string | undefined;
}

export function shownGap({ sessionId, gap, shown: hash, question: { step, proposed } }: WaitingGap): ShownGap {
  const { gapId: id, reason, summary, resolvedBy } = gap;
  const answer = resolvedBy === undefined ? undefined : answerText(gap);
  const { title, prompt } = step ?? {};
  const given = { notes: proposed?.notes ?? undefined, artifacts: proposed?.artifacts.join('\n') };
  const about = aboutLines({ step: title, instructions: prompt, ...given });
  return { id, sessionId, detail: reason.detail, summary, about, hash, answer };
}

/** The fields of a proposal that say what an approval is about. */
export function aboutLines(proposal: unknown): readonly string[] {
  const fields = (typeof proposal === 'object' && proposal !== null ? proposal : {}) as Readonly<
    Record<string, unknown>
  >;
  return (['step', 'instructions', 'notes', 'artifacts'] as const).flatMap(name => {
    const text = fields[name];
    if (typeof text !== 'string' || text === '') return [];
    return [`${LABELS[name]}:`, ...text.split('\n').map(line => `  ${line}`)];
  });
}

const LABELS = {
  step: 'Step',
  instructions: 'What the agent was told',
  notes: 'What it proposes',
  artifacts: 'Artifacts',
} as const;

/** A gap of a guided session with how to answer it, or its answer. */
export function describeGap({ id, sessionId, detail, summary, about, hash, answer }: ShownGap, paint: Paint): string {
  const lines = [
    `${paint.strong(id)}  ${detail}  ${paint.faint(`of guided session ${sessionId}`)}`,
    ...summary.split('\n').map(line => `  ${shown(line)}`),
    ...(answer === undefined ? about : []).map(line => `  ${shown(line)}`),
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
