import type { WireDecision } from '@signalbox/model';
import type { AgentFacts, Attempt, Part, PlanStep, TurnUsage } from '../inspector/attempts.ts';
import type { ToolUse } from '../inspector/tool-use.ts';
import type { Transcript } from '../inspector/transcript.ts';

/** A line of a transcript: its parts, attempt after attempt, in one list that is drawn as far as it is in view. */
export type TranscriptRow =
  | { readonly kind: 'attempt'; readonly number: number | undefined; readonly agent: AgentFacts | undefined }
  | { readonly kind: 'plan'; readonly steps: readonly PlanStep[] }
  | { readonly kind: 'part'; readonly part: Exclude<Part, { readonly kind: 'tool' | 'turn' }> }
  | { readonly kind: 'turn'; readonly number: number; readonly usage: TurnUsage }
  | {
      readonly kind: 'call';
      readonly use: ToolUse;
      /** Whether its attempt is over: then a call without an outcome was cut off. */
      readonly isOver: boolean;
      /** The open decisions about it. */
      readonly decisions: readonly WireDecision[];
    }
  /** A decision that is about no call. */
  | { readonly kind: 'question'; readonly decision: WireDecision }
  | { readonly kind: 'end'; readonly status: string; readonly words: string | undefined };

interface RowsOf {
  readonly transcript: Transcript;
  /** The open decisions of the node. */
  readonly decisions: readonly WireDecision[];
  readonly isOver: boolean;
}

/** Every open decision is in exactly one row: at its call if it has one, else at the end. */
export function transcriptRows({ transcript: { attempts }, decisions, isOver }: RowsOf): readonly TranscriptRow[] {
  const rows: TranscriptRow[] = [];
  const placed = new Set<WireDecision>();
  for (const [index, attempt] of attempts.entries()) {
    const isLast = index === attempts.length - 1;
    rows.push(...headOf(attempt, attempts.length > 1 ? index + 1 : undefined));
    for (const part of attempt.parts) {
      if (part.kind === 'tool') {
        const use = attempt.tools.get(part.call);
        if (use === undefined) continue;
        const about = isLast ? decisions.filter(one => isAbout(one, part.call)) : [];
        for (const one of about) placed.add(one);
        const isCutOff = !isLast || attempt.end !== undefined || isOver;
        rows.push({ kind: 'call', use, isOver: isCutOff, decisions: about });
      } else if (part.kind === 'turn') rows.push(part);
      else rows.push({ kind: 'part', part });
    }
    const { end } = attempt;
    if (end !== undefined && end.status !== 'succeeded') rows.push({ kind: 'end', ...end });
  }
  for (const decision of decisions) if (!placed.has(decision)) rows.push({ kind: 'question', decision });
  return rows;
}

function headOf({ agent, plan }: Attempt, number: number | undefined): readonly TranscriptRow[] {
  return [
    ...(agent === undefined && number === undefined ? [] : [{ kind: 'attempt' as const, number, agent }]),
    ...(plan.length > 0 ? [{ kind: 'plan' as const, steps: plan }] : []),
  ];
}

/** A decision may be about a part of the call, such as the changes that it holds. */
function isAbout({ decision }: WireDecision, call: string): boolean {
  return decision.call === call || decision.call.startsWith(`${call}:`);
}

/** A first guess of a row's height, until it is drawn and measured. */
export function guessedHeight(row: TranscriptRow): number {
  switch (row.kind) {
    case 'part': {
      const { part } = row;
      if (part.kind === 'changes') return 240;
      if (part.kind === 'thought' || part.kind === 'prompt') return 30;
      return (
        20 + 20 * part.text.split('\n').reduce((lines, line) => lines + Math.max(1, Math.ceil(line.length / 90)), 0)
      );
    }
    case 'call':
      return row.decisions.length > 0 ? 320 : 40;
    case 'question':
      return 240;
    case 'attempt':
      return row.agent === undefined ? 36 : 120;
    case 'plan':
      return 32 + 22 * row.steps.length;
    case 'turn':
      return 24;
    case 'end':
      return 44;
  }
}
