import type { ErrorEnvelope } from '@signalbox/app';
import { type Gap, openGuidedDesk, type WaitingGap } from '@signalbox/app/guided';
import { thisMachine } from '@signalbox/app/runs';
import { askedDataDirectory, type DataFlags } from '../data-directory-option.ts';
import { type Paint, paintOf, shown, type Terminal } from '../terminal.ts';

/** Prints what guided sessions wait for, and answers with how much that is. */
export async function listWaiting(
  terminal: Terminal,
  { dataDir, json = false }: DataFlags,
): Promise<number | ErrorEnvelope> {
  const waiting = openGuidedDesk({ dataDirectory: askedDataDirectory(dataDir), rng: thisMachine().rng }).waiting();
  if (!waiting.ok) return waiting.error;
  for (const one of waiting.value) {
    terminal.print(json ? JSON.stringify(one) : describeWaiting(one, paintOf(terminal)));
  }
  return waiting.value.length;
}

/** Something that a guided session waits for and how it is answered, or what the answer was. */
export function describeWaiting({ sessionId, gap, shown: hash }: WaitingGap, paint: Paint): string {
  const { gapId, reason, summary, resolvedBy } = gap;
  const lines = [
    `${paint.strong(gapId)}  ${reason.detail}  ${paint.faint(`of guided session ${sessionId}`)}`,
    ...summary.split('\n').map(line => `  ${shown(line)}`),
  ];
  if (resolvedBy !== undefined) lines.push(`  ${paint.good('✓')} ${shown(answerText(gap))}`);
  else {
    lines.push(paint.faint(`  ${answerHint(reason.detail, gapId)}`), paint.faint(`  what is shown: ${hash}`));
  }
  return lines.join('\n');
}

export function answerText({ answer }: Gap): string {
  if (answer === undefined) return 'a later attempt had what was missing';
  if (answer.kind === 'answered') return answer.value;
  return answer.note === undefined ? answer.kind : `${answer.kind}: ${answer.note}`;
}

/** Whether a yes is enough, or something has to be said. */
function answerHint(detail: string, gapId: string): string {
  const isYesOrNo = detail === 'needs_user_approval' || detail === 'needs_user_environment_action';
  return isYesOrNo ? `signalbox approve | deny ${gapId}` : `signalbox approve ${gapId} --value TEXT`;
}
