import { createHash } from 'node:crypto';
import { type ErrorEnvelope, failure, type Json, type Resolution } from '@signalbox/model';
import { ROOT_ID, type TaskOutcome } from '@signalbox/plan';
import type { Ceiling, Decision, LimitName, NodeKey, ReachedLimit, StopConditions, StopVerdict } from '@signalbox/runs';
import * as z from 'zod';
import type { DecisionDesk } from './decision-desk.ts';
import { humanProposal } from './human-proposal.ts';

/**
 * A reached limit is a decision about its run (R37): raise it and continue, or stop. It is asked once, however many nodes of however many
 * child runs wait for it. A limit of a project or a day is asked about in every run that waits for it, and one answer lets all of them go on.
 */
export async function askAboutLimit(
  decisions: Pick<DecisionDesk, 'ask' | 'isWithdrawn'>,
  verdict: StopVerdict,
): Promise<Extract<TaskOutcome, { readonly kind: 'blocked' }> | undefined> {
  if (verdict.kind === 'go' || verdict.reached === undefined) return undefined;
  const { run, reason, reached } = verdict;
  const { name, allowed, ceiling } = reached;
  const call = ceiling === undefined ? `${LIMIT}${name}:${allowed}` : `${LIMIT}${name}:${allowed}:${placeOf(ceiling)}`;
  // An answer applies to the limit that was shown: one that is reached again is asked again.
  for (let again = 0; ; again++) {
    const question = { run, node: ROOT_ID as NodeKey, iteration: again, call };
    const proposal = proposalOf(reason, reached) as Json;
    const answered = await decisions.ask({ ...question, kind: 'confirmation', proposal });
    if (answered === undefined && !(await decisions.isWithdrawn(question))) break;
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
  /** The tokens that the refused call would have taken. */
  wanted: z.int().nonnegative().optional(),
  /** Absent for a limit of the run. */
  ceiling: z
    .discriminatedUnion('scope', [
      z.object({ scope: z.literal('day'), day: z.string() }),
      z.object({ scope: z.literal('project'), directory: z.string() }),
      z.object({ scope: z.literal('project-day'), directory: z.string(), day: z.string() }),
    ])
    .optional(),
});
type LimitContext = z.infer<typeof limitContext>;
export type CeilingContext = LimitContext & {
  readonly ceiling: Ceiling;
  readonly limit: 'maxTotalTokens' | 'maxCostMicroUsd';
};

/** The limit that a decision is about; undefined if it is about something else. */
export function limitOf({ call, proposal }: Decision): LimitContext | undefined {
  if (!call.startsWith(LIMIT)) return undefined;
  return limitContext.safeParse((proposal as { readonly context?: unknown }).context).data;
}

/** The same of a limit over more than one run. */
export function ceilingOf(decision: Decision): CeilingContext | undefined {
  const about = limitOf(decision);
  if (about?.ceiling === undefined || (about.limit !== 'maxTotalTokens' && about.limit !== 'maxCostMicroUsd'))
    return undefined;
  return { ...about, limit: about.limit, ceiling: about.ceiling };
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

function proposalOf(reason: string, { name, allowed, used, wanted, ceiling }: ReachedLimit) {
  const suggested = Math.max(2 * allowed, Math.ceil(used ?? 0) + Math.max(allowed, 2 * (wanted ?? 0)), 1);
  const isOfDay = ceiling !== undefined && ceiling.scope !== 'project';
  const what = `${amountOf(name, suggested)}${isOfDay ? ' for this day' : ''}`;
  const otherwise = isOfDay ? ' Unanswered, it goes on the next day.' : '';
  return {
    prompt: `${reason}${RAISE}${what} and go on? Denied, the run is stopped.${otherwise}`,
    context: {
      ...{ limit: name, allowed, suggested },
      ...(used !== undefined && { spent: Math.ceil(used) }),
      ...(ceiling !== undefined && { ceiling, ...(wanted !== undefined && { wanted }) }),
    },
  };
}

function placeOf(ceiling: Ceiling): string {
  const day = 'day' in ceiling ? `:${ceiling.day}` : '';
  if (!('directory' in ceiling)) return `${ceiling.scope}${day}`;
  // A path may be longer than the name of a call.
  const place = createHash('sha256').update(ceiling.directory).digest('hex').slice(0, 16);
  return `${ceiling.scope}${day}:${place}`;
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
