import * as z from 'zod';
import { text } from '../json.ts';
import { type BlastRadius, blastRadius, confidence, name } from './scales.ts';

const order = z.enum(['lt', 'gt', 'lte', 'gte']);
type Order = z.infer<typeof order>;

/** A condition on a decision, evaluated by the backend and never by an agent. */
export type EscalationPredicate =
  | { readonly field: 'confidence'; readonly op: Order; readonly value: number }
  | { readonly field: 'blastRadius'; readonly op: 'eq' | 'gte'; readonly value: BlastRadius }
  /** The score when the decision is made. It is never part of what an agent gets (R14). */
  | { readonly field: 'trustScore'; readonly op: Order; readonly value: number }
  | { readonly field: 'affectsMultipleWorkstreams'; readonly op: 'eq'; readonly value: boolean }
  | { readonly type: 'and' | 'or'; readonly rules: readonly EscalationPredicate[] };

/** How deep `and` and `or` may be nested, so that evaluating a rule is always cheap. */
export const PREDICATE_MAX_DEPTH = 16;

const comparison = z.discriminatedUnion('field', [
  z.strictObject({ field: z.literal('confidence'), op: order, value: confidence }),
  z.strictObject({ field: z.literal('blastRadius'), op: z.enum(['eq', 'gte']), value: blastRadius }),
  z.strictObject({ field: z.literal('trustScore'), op: order, value: z.number().min(0).max(100) }),
  z.strictObject({ field: z.literal('affectsMultipleWorkstreams'), op: z.literal('eq'), value: z.boolean() }),
]);

const anyPredicate: z.ZodType<EscalationPredicate> = z.lazy(() =>
  z.union([
    comparison,
    /** At least one: an empty `and` would escalate everything, and an empty `or` nothing. */
    z.strictObject({ type: z.enum(['and', 'or']), rules: z.array(anyPredicate).min(1).readonly() }),
  ]),
);

/** Its depth is looked at first, so that no nesting exhausts the stack. */
export const escalationPredicate = z
  .unknown()
  .refine(value => isShallow(value, PREDICATE_MAX_DEPTH), {
    error: `must be nested ${PREDICATE_MAX_DEPTH} levels deep at most`,
    abort: true,
  })
  .pipe(anyPredicate);

export const escalationRule = z.strictObject({ predicate: escalationPredicate, description: text });
export type EscalationRule = Readonly<z.infer<typeof escalationRule>>;

/** When an agent asks. The lists hold escalation words or patterns of tool names; `alwaysEscalate` is stronger than `neverEscalate` (R21). */
export const escalationProtocol = z.strictObject({
  alwaysEscalate: z.array(name).readonly(),
  escalateWhen: z.array(escalationRule).readonly(),
  neverEscalate: z.array(name).readonly(),
});
export type EscalationProtocol = Readonly<z.infer<typeof escalationProtocol>>;

/** A protocol as an agent may see it: without any rule on trust, and without the words that explain such a rule (R14). */
export function withoutTrustRules(protocol: EscalationProtocol): EscalationProtocol {
  return { ...protocol, escalateWhen: protocol.escalateWhen.filter(({ predicate }) => !readsTrust(predicate)) };
}

function readsTrust(predicate: EscalationPredicate): boolean {
  return 'field' in predicate ? predicate.field === 'trustScore' : predicate.rules.some(readsTrust);
}

/** Whether there are at most so many levels of `rules` below a value. */
function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null || !('rules' in value) || !Array.isArray(value.rules)) return true;
  return levels > 0 && value.rules.every(rule => isShallow(rule, levels - 1));
}
