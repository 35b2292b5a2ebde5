import type { ApprovalId, KeepAttempt, Resolution } from '@signalbox/app/host';
import { describeDecision } from '../decision-report.ts';
import type { RunOwner } from '../owner/run-owner.ts';
import { shownLines } from '../shown-lines.ts';
import { type Paint, paintOf, reportError, shown, type Terminal } from '../terminal.ts';
import { describeComparison, describeDiff, describeFailures } from './comparison.ts';

interface Proposal {
  /** The tool of a call that is to be allowed; such a question may have options of the agent's own as well. */
  readonly tool?: unknown;
  readonly prompt?: unknown;
  readonly options?: readonly { readonly id: string; readonly label?: string }[];
  readonly context?: {
    readonly diff?: unknown;
    /** Of a question which of several attempts is kept. */
    readonly attempts?: readonly KeepAttempt[];
    readonly check?: KeepAttempt['check'];
  };
}

export interface InPlace {
  readonly terminal: Terminal;
  readonly owner: Pick<RunOwner, 'reader' | 'answer'>;
  readonly ending: AbortSignal;
  /** Whether several agents may ask, so that the question says which one does. */
  readonly isNamed: boolean;
}

/** Asks the person at the terminal; false if there is none, or they gave no answer. */
export async function answerInPlace(place: InPlace, id: ApprovalId): Promise<boolean> {
  const { terminal, owner, ending } = place;
  const { ask } = terminal;
  const found = await owner.reader.decision(id);
  if (ask === undefined || found === undefined) return false;
  if (found.decision.status !== 'open') return true;
  const { node, proposal, proposalHash } = found.decision;
  const shownProposal = (proposal ?? {}) as Proposal;
  const options = shownProposal.tool === undefined ? shownProposal.options : undefined;
  const paint = paintOf(terminal);
  const lines = linesOf(shownProposal, paint, terminal.screen?.size().width);
  terminal.print(lines === undefined ? describeDecision(found, paint) : lines.join('\n'));
  const asker = place.isNamed && shownProposal.context?.attempts === undefined ? `${shown(node)}: ` : '';
  for (;;) {
    const said = await ask(`${asker}${questionFor(options)}`, ending);
    if (said === undefined) return false;
    const resolution = resolutionOf(said.trim(), options);
    if (resolution === undefined) continue;
    const answered = await owner.answer(id, { resolution, proposalHash });
    if (!answered.ok) reportError(terminal, answered.error, false);
    return answered.ok;
  }
}

/** A question about changes: the diff, how attempts compare, and the question; undefined for any other. */
function linesOf(
  { context, prompt }: Proposal,
  paint: Paint,
  width: number | undefined,
): readonly string[] | undefined {
  if (typeof context?.diff !== 'string') return undefined;
  const { diff, attempts, check } = context;
  const failed = check === undefined || check.passed ? [] : describeFailed(check, paint);
  const compared =
    attempts === undefined
      ? failed
      : ['', ...describeFailures(attempts, paint), ...describeComparison(attempts, paint, width)];
  return [...describeDiff(diff, paint), ...compared, ...shownLines(String(prompt))];
}

function describeFailed(check: NonNullable<KeepAttempt['check']>, paint: Paint): readonly string[] {
  return describeFailures([{ node: 'the agent', agent: '', files: 0, added: 0, removed: 0, check }], paint);
}

function questionFor(options: Proposal['options']): string {
  if (options === undefined) return 'Allow? [y]es, [n]o, or no with a reason: ';
  return `${options.map(({ id, label }, index) => `[${index + 1}] ${shown(label ?? id)}`).join('  ')}: `;
}

const BASE = { actionKind: 'review', rationale: '' } as const;

function resolutionOf(said: string, options: Proposal['options']): Resolution | undefined {
  if (options !== undefined) {
    const word = said.toLowerCase();
    const chosen = options.find(({ id, label }, index) => [String(index + 1), id, label?.toLowerCase()].includes(word));
    return chosen && { ...BASE, resolutionType: 'choose_option', chosenOptionId: chosen.id };
  }
  if (said === '') return undefined;
  if (/^y(es)?$/i.test(said)) return { ...BASE, resolutionType: 'approve' };
  const reason = said.replace(/^no?\b[\s,:]*/i, '');
  return { ...BASE, resolutionType: 'reject', rationale: reason };
}
