import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { runId } from '../ids.ts';
import { json, text } from '../json.ts';
import { cursor, pageLimit } from './requests.ts';

const count = z.int().nonnegative();

/** Spending of calls on one day (UTC), for one model, in runs of one directory. Costs are in millionths of a US dollar. */
const wireSpending = z.object({
  day: z.iso.date(),
  provider: text.optional(),
  model: text.optional(),
  directory: text.optional(),
  calls: count,
  inputTokens: count,
  outputTokens: count,
  cachedTokens: count,
  toolCalls: count,
  costMicroUsd: count,
  wallMs: count,
});
export type WireSpending = z.infer<typeof wireSpending>;

/** The latest day first; `next` is what the next page comes after. */
export const spendingList = z.object({ spending: z.array(wireSpending).readonly(), next: text.optional() });

export const spendingQuery = z.strictObject({
  run: runId.optional(),
  since: timestamp.optional(),
  after: cursor.optional(),
  limit: pageLimit(1000),
});

const subagent = z.object({ id: text, parent: text.optional(), kind: text.optional() });

/** A call of a model through the meter. */
const wireModelCall = z.object({
  call: text,
  node: text,
  task: text,
  provider: text,
  model: text,
  /** As its agent names it; `null` for a call of the agent itself, absent if nothing tells. */
  subagent: subagent.nullable().optional(),
  at: timestamp,
  endedAt: timestamp.optional(),
  /** `refused`: by the provider. `lost`: our process died while it was under way. */
  outcome: z.enum(['under way', 'answered', 'refused', 'refused at a limit', 'cut', 'lost']),
  status: z.int().optional(),
  reservedTokens: count.optional(),
  spent: z.object({ inputTokens: count, outputTokens: count, cachedTokens: count, costMicroUsd: count }).optional(),
  /** What the provider did not tell: it is estimated. */
  unknown: z.array(z.enum(['input', 'output', 'cost'])).readonly(),
  reason: text.optional(),
  /** From the refusal to the end of its node. */
  endedAfterMs: count.optional(),
});
export type WireModelCall = z.infer<typeof wireModelCall>;

const limit = count.optional();

/** What a run has spent so far. `total` is with its sub-plans, `nodes` without them. */
export const runSpend = z.object({
  run: runId,
  limits: z.object({
    maxWallClockMs: limit,
    maxTotalTokens: limit,
    maxToolCalls: limit,
    maxCostMicroUsd: limit,
    maxRetriesPerTask: limit,
  }),
  total: wireSpending.omit({ day: true, provider: true, model: true, directory: true }),
  nodes: z.array(z.object({ node: text, models: z.array(wireSpending).readonly() })).readonly(),
  /** By subagent, of agents that tell their calls apart; `null` is the agent itself. */
  subagents: z
    .array(
      z.object({
        node: text,
        subagent: subagent.nullable(),
        ...{ calls: count, inputTokens: count, outputTokens: count, cachedTokens: count, costMicroUsd: count },
      }),
    )
    .readonly(),
  /** The latest ones, oldest first. */
  calls: z.array(wireModelCall).readonly(),
  callsInAll: count,
});
export type RunSpend = z.infer<typeof runSpend>;

const changedPart = z.object({ list: text, value: json });

/** A call as it went to its model, without secrets; `request` and `answer` if they were kept. */
export const modelCall = z.object({
  run: runId,
  call: text,
  node: text,
  provider: text,
  model: text,
  outcome: z.enum(['answered', 'refused', 'cut', 'lost']),
  request: z.record(z.string(), json).optional(),
  /** As it was sent: JSON, or events. */
  answer: text.optional(),
  /** Members of lists (messages, tools) that changed since the call before of the same task. */
  since: z
    .object({
      call: text,
      same: count,
      added: z.array(changedPart).readonly(),
      removed: z.array(changedPart).readonly(),
    })
    .optional(),
});
export type ModelCall = z.infer<typeof modelCall>;
