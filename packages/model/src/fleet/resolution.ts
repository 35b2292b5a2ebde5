import * as z from 'zod';
import { json, jsonObject, text } from '../json.ts';
import { actionKind } from './scales.ts';

/**
 * A person's answer to a decision: the only form of an answer (R7). Approvals of the contract and confirmations of workflows are views of it.
 * `alwaysApprove` allows the same tool, by its exact name, until the agent's session ends; never for other agents.
 */
export const resolution = z.strictObject({
  resolutionType: z.enum(['approve', 'reject', 'modify', 'choose_option']),
  chosenOptionId: text.min(1).optional(),
  modifiedArgs: jsonObject.optional(),
  alwaysApprove: z.boolean().optional(),
  rationale: text,
  actionKind,
  /** The input that a `Human` node asked for. */
  value: json.optional(),
});
export type Resolution = z.infer<typeof resolution>;

/** A person's answer as code gives it: to a confirmation, to a question with options, or to one that asks for a value. */
export type GivenAnswer =
  | 'approve'
  | 'deny'
  | { readonly approve: boolean; readonly reason?: string }
  | { readonly option: string; readonly reason?: string }
  | { readonly value: z.infer<typeof json>; readonly reason?: string };

export function resolutionGiven(given: GivenAnswer): Resolution {
  if (typeof given === 'string') return resolutionGiven({ approve: given === 'approve' });
  const base = { rationale: given.reason ?? '', actionKind: 'review' } as const;
  if ('option' in given) return { ...base, resolutionType: 'choose_option', chosenOptionId: given.option };
  if ('value' in given) return { ...base, resolutionType: 'approve', value: given.value };
  return { ...base, resolutionType: given.approve ? 'approve' : 'reject' };
}
