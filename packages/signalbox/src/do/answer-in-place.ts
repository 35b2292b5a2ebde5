import type { ApprovalId, Resolution } from '@signalbox/app/host';
import { describeDecision } from '../decision-report.ts';
import type { RunOwner } from '../owner/run-owner.ts';
import { shownLines } from '../shown-lines.ts';
import { paintOf, reportError, type Terminal } from '../terminal.ts';

interface Proposal {
  /** The tool of a call that is to be allowed; such a question may have options of the agent's own as well. */
  readonly tool?: unknown;
  readonly prompt?: unknown;
  readonly options?: readonly { readonly id: string; readonly label?: string }[];
  readonly context?: { readonly diff?: unknown };
}

/** Asks the person at the terminal; false if there is none, or they gave no answer. */
export async function answerInPlace(
  terminal: Terminal,
  owner: RunOwner,
  id: ApprovalId,
  ending: AbortSignal,
): Promise<boolean> {
  const { ask } = terminal;
  const found = await owner.reader.decision(id);
  if (ask === undefined || found === undefined) return false;
  if (found.decision.status !== 'open') return true;
  const { proposal, proposalHash } = found.decision;
  const shownProposal = (proposal ?? {}) as Proposal;
  const { context, prompt } = shownProposal;
  const options = shownProposal.tool === undefined ? shownProposal.options : undefined;
  const diff = context?.diff;
  if (typeof diff === 'string') terminal.print([...shownLines(diff), String(prompt)].join('\n'));
  else terminal.print(describeDecision(found, paintOf(terminal)));
  for (;;) {
    const said = await ask(questionFor(options), ending);
    if (said === undefined) return false;
    const resolution = resolutionOf(said.trim(), options);
    if (resolution === undefined) continue;
    const answered = await owner.answer(id, { resolution, proposalHash });
    if (!answered.ok) reportError(terminal, answered.error, false);
    return answered.ok;
  }
}

function questionFor(options: Proposal['options']): string {
  if (options === undefined) return 'Allow? [y]es, [n]o, or no with a reason: ';
  return `${options.map(({ id, label }, index) => `[${index + 1}] ${label ?? id}`).join('  ')}: `;
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
