import { defined, type ErrorEnvelope, failure, type Resolution, type RunId } from '@signalbox/model';
import type { Decision, DecisionOfRun, RunRecord } from '@signalbox/runs';
import * as z from 'zod';
import { humanProposal } from './human-proposal.ts';
import { limitMisfit, limitOf } from './limit-decisions.ts';

/** Why an answer does not fit this question; undefined if it does. Earlier answers are not considered. */
export function misfit(decision: Decision, resolution: Resolution): ErrorEnvelope | undefined {
  if (decision.status !== 'open') return undefined;
  const { resolutionType, chosenOptionId, value } = resolution;
  const overLimit = limitMisfit(decision, resolution);
  if (overLimit !== undefined) return overLimit;
  const asked = isHuman(decision) ? humanProposal.parse(decision.proposal) : undefined;
  if (resolutionType === 'choose_option') {
    const offered = (asked?.options ?? optionsOfCall(decision))?.map(({ id }) => id) ?? [];
    if (chosenOptionId !== undefined && offered.includes(chosenOptionId)) return undefined;
    return unfitting(
      decision,
      offered.length === 0 ? 'it offers no options' : `${chosenOptionId ?? 'nothing'} is not one of its options`,
      offered.length === 0 ? 'Approve or deny it.' : `Choose one of: ${offered.join(', ')}.`,
    );
  }
  if (resolutionType === 'modify' && (asked !== undefined || resolution.modifiedArgs === undefined)) {
    return unfitting(
      decision,
      'there is nothing to modify',
      'Approve or deny it, or give the arguments to use instead.',
    );
  }
  if (asked === undefined || resolutionType === 'reject') return undefined;
  if (asked.options !== undefined) {
    return unfitting(
      decision,
      'it needs one of its options',
      `Choose one of: ${asked.options.map(o => o.id).join(', ')}.`,
    );
  }
  if (asked.schema === undefined) return undefined;
  const fit = z.fromJSONSchema(asked.schema as never).safeParse(value);
  if (fit.success) return undefined;
  const [issue] = fit.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.map(String).join('.')}: `;
  return unfitting(
    decision,
    `its value does not fit: ${where}${issue?.message ?? 'it is missing'}`,
    "Give a JSON value that fits the question's schema.",
  );
}

const withOptions = z.looseObject({ options: z.array(z.looseObject({ id: z.string() })) });

/** An agent's own options for a call that it asks about. */
function optionsOfCall({ proposal }: Decision): readonly { readonly id: string }[] | undefined {
  return withOptions.safeParse(proposal).data?.options;
}

/** `matches` counts the decisions that a text could mean. */
export function unknownDecision(id: string, matches = 0): ErrorEnvelope<'decision/unknown'> {
  return failure('decision/unknown', {
    message: matches === 0 ? `There is no decision ${id}.` : `${matches} decisions begin or end with ${id}.`,
    suggestion:
      matches === 0 ? 'List the open decisions and answer one of them.' : 'Give enough of the id to identify one.',
    details: { decision: id, ...(matches > 0 && { matches }) },
  });
}

/** The answer is no longer needed. */
export function withdrawn(
  { run, decision }: DecisionOfRun,
  record: Pick<RunRecord, 'status' | 'endedAt'> | undefined,
): ErrorEnvelope<'decision/withdrawn'> {
  const { id, closedAt } = decision;
  const why = whyWithdrawn(run, decision, record);
  return failure('decision/withdrawn', {
    message: `Decision ${id} was withdrawn${closedAt === undefined ? '' : ` at ${closedAt}`}: ${why}.`,
    suggestion: `List open decisions with "signalbox decisions", or see the run with "signalbox show ${run}".`,
    details: { decision: id, run, ...defined({ at: closedAt }) },
  });
}

function whyWithdrawn(
  run: RunId,
  decision: Decision,
  record: Pick<RunRecord, 'status' | 'endedAt'> | undefined,
): string {
  const { node, closedAt = '' } = decision;
  const wasOver = record?.endedAt !== undefined && closedAt >= record.endedAt;
  const limit = limitOf(decision);
  if (limit?.ceiling !== undefined && !wasOver) return 'the limit was raised or changed, or its day is over';
  if (limit !== undefined && !wasOver) return `the limit of run ${run} was changed`;
  if (record?.status === 'completed') return `run ${run} completed without it`;
  return `node ${node} of run ${run} was canceled or left the plan`;
}

function isHuman({ kind }: Decision): boolean {
  return kind === 'human' || kind === 'choice' || kind === 'confirmation';
}

function unfitting({ id }: Decision, what: string, suggestion: string): ErrorEnvelope {
  return failure('VALIDATION_ERROR', {
    message: `The answer does not fit decision ${id}: ${what}.`,
    suggestion,
    details: { decision: id },
  });
}
