import * as z from 'zod';
import { type Shape, shape } from './shape.ts';

/** What the notes of a step must show. `conditionId` names the condition under which a rule applies. */
export type ValidationExpression =
  | { readonly kind: 'all'; readonly of: readonly ValidationExpression[] }
  | { readonly kind: 'any'; readonly of: readonly ValidationExpression[] }
  | { readonly kind: 'not'; readonly of: ValidationExpression }
  | ({
      readonly kind: 'rule';
      readonly message: string;
      readonly conditionId?: string | undefined;
    } & ValidationTest);

/** `contains` is case-sensitive; a `regex` is bounded in time; `schema` reads the notes as JSON. */
export type ValidationTest =
  | { readonly test: 'contains'; readonly value: string }
  | { readonly test: 'regex'; readonly pattern: string; readonly flags: string }
  | { readonly test: 'length'; readonly min?: number | undefined; readonly max?: number | undefined }
  | { readonly test: 'schema'; readonly shape: Shape };

const rule = { kind: z.literal('rule'), message: z.string(), conditionId: z.string().optional() };

export const validationExpression: z.ZodType<ValidationExpression> = z.lazy(() =>
  z.union([
    z.strictObject({ kind: z.literal('all'), of: z.array(validationExpression) }),
    z.strictObject({ kind: z.literal('any'), of: z.array(validationExpression) }),
    z.strictObject({ kind: z.literal('not'), of: validationExpression }),
    z.strictObject({ ...rule, test: z.literal('contains'), value: z.string() }),
    z.strictObject({ ...rule, test: z.literal('regex'), pattern: z.string(), flags: z.string() }),
    z.strictObject({
      ...rule,
      test: z.literal('length'),
      min: z.number().optional(),
      max: z.number().optional(),
    }),
    z.strictObject({ ...rule, test: z.literal('schema'), shape }),
  ]),
);
