import { type Json, json } from '@signalbox/model';
import * as z from 'zod';

/** Comparison operators on a context key. `truthy` is a condition that only names a key. */
export const CONDITION_OPERATORS = [
  'truthy',
  'equals',
  'not_equals',
  'gt',
  'gte',
  'lt',
  'lte',
  'contains',
  'startsWith',
  'endsWith',
  'matches',
  'in',
] as const;

export type ConditionOperator = (typeof CONDITION_OPERATORS)[number];

/** A condition on the durable context. Keys are flat; `value` is absent for `truthy` only. */
export type ConditionExpression =
  | {
      readonly kind: 'compare';
      readonly key: string;
      readonly operator: ConditionOperator;
      readonly value?: Json | undefined;
    }
  | { readonly kind: 'and'; readonly of: readonly ConditionExpression[] }
  | { readonly kind: 'or'; readonly of: readonly ConditionExpression[] }
  | { readonly kind: 'not'; readonly of: ConditionExpression };

export const conditionExpression: z.ZodType<ConditionExpression> = z.lazy(() =>
  z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('compare'),
      key: z.string().min(1),
      operator: z.enum(CONDITION_OPERATORS),
      value: json.optional(),
    }),
    z.strictObject({ kind: z.literal('and'), of: z.array(conditionExpression) }),
    z.strictObject({ kind: z.literal('or'), of: z.array(conditionExpression) }),
    z.strictObject({ kind: z.literal('not'), of: conditionExpression }),
  ]),
);
