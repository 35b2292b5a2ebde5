import { type ErrorEnvelope, failure, type Json, type Resolution } from '@signalbox/model';
import { ROOT_ID, type TaskOutcome } from '@signalbox/plan';
import type { Decision, LimitName, NodeKey, ReachedLimit, StopConditions, StopVerdict } from '@signalbox/runs';
import * as z from 'zod';
import type { DecisionDesk } from './decision-desk.ts';
import { humanProposal } from './human-proposal.ts';

/**
 * A reached limit is a decision about its run (R37): raise it and continue, or stop. It is asked once, however many nodes of however many
 * child runs wait for it.
 */
export async function askAboutLimit(
  decisions: Pick<DecisionDesk, 'ask'>,
  verdict: StopVerdict,
): Promise<Extract<TaskOutcome, { readonly kind: 'blocked' }> | undefined> {
  if (verdict.kind === 'go' || verdict.reached === undefined) return undefined;
  const { run, reason, reached } = verdict;
  // An answer applies to the limit that was shown: one that is reached again is asked again.
  for (let again = 0; ; again++) {
    const answered = await decisions.ask({
      run,
      node: ROOT_ID as NodeKey,
      iteration: again,
      call: `${LIMIT}${reached.name}:${reached.allowed}`,
      kind: 'confirmation',
      proposal: proposalOf(reason, reached) as Json,
    });
    if (answered === undefined) break;
  }
  return { kind: 'blocked', reason: 'approval_required:confirmation' };
}

const LIMIT = 'limit:';
const RAISE = ' Raise the limit to ';

const limitContext = z.object({
  limit: z.enum(['maxWallClockMs', 'maxTotalTokens', 'maxToolCalls', 'maxCostMicroUsd']),
  allowed: z.int().nonnegative(),
  spent: z.int().nonnegative().optional(),
  suggested: z.int().nonnegative(),
});
/** The limit that a decision is about; undefined if it is about something else. */
export function limitOf({ call, proposal }: Decision): z.infer<typeof limitContext> | undefined {
  if (!call.startsWith(LIMIT)) return undefined;
  return limitContext.safeParse((proposal as { readonly context?: unknown }).context).data;
}

/** Why a run is stopped whose limit a person did not raise. */
export function whyNotRaised({ proposal }: Decision): string {
  const { prompt } = humanProposal.parse(proposal);
  return `A limit was reached and not raised. ${prompt.slice(0, prompt.indexOf(RAISE))}`;
}

/** The raised limit of an answer; undefined if it was denied. */
export function raisedLimit(decision: Decision): StopConditions | undefined {
  const about = limitOf(decision);
  const { resolution } = decision;
  if (about === undefined || resolution === undefined || resolution.resolutionType === 'reject') return undefined;
  return { [about.limit]: valueIn(resolution) ?? about.suggested };
}

/** Why an answer does not raise its limit; undefined if it does, or denies it. */
export function limitMisfit(decision: Decision, resolution: Resolution): ErrorEnvelope | undefined {
  const about = limitOf(decision);
  if (about === undefined || resolution.resolutionType === 'reject' || resolution.value === undefined) return undefined;
  const value = valueIn(resolution);
  const least = about.spent ?? about.allowed;
  if (value !== undefined && value > least) return undefined;
  return failure('VALIDATION_ERROR', {
    message: `The answer does not fit decision ${decision.id}: its value must be a whole number above ${least}, which was spent.`,
    suggestion: `Omit the value to raise the limit to ${about.suggested}, or give a larger number.`,
    details: { decision: decision.id },
  });
}

function valueIn({ value }: Resolution): number | undefined {
  return z.int().nonnegative().safeParse(value).data;
}

function proposalOf(reason: string, { name, allowed, used, wanted = 0 }: ReachedLimit) {
  const suggested = Math.max(2 * allowed, Math.ceil(used ?? 0) + Math.max(allowed, 2 * wanted), 1);
  return {
    prompt: `${reason}${RAISE}${amountOf(name, suggested)} and go on? Denied, the run is stopped.`,
    context: { limit: name, allowed, ...(used !== undefined && { spent: Math.ceil(used) }), suggested },
  };
}

function amountOf(name: LimitName, value: number): string {
  switch (name) {
    case 'maxWallClockMs':
      return `${Number((value / 60_000).toFixed(2))} minutes`;
    case 'maxTotalTokens':
      return `${value} tokens`;
    case 'maxToolCalls':
      return `${value} tool calls`;
    case 'maxCostMicroUsd':
      return `$${Number((value / 1e6).toFixed(6))}`;
  }
}
