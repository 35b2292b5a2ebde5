import { type Json, json } from '@signalbox/model';
import * as z from 'zod';

/**
 * The shape of a value as plain data, so that a contract can be pinned, hashed and checked years later from the snapshot
 * alone. An object that is not `open` rejects unknown fields.
 */
export type Shape =
  | { readonly type: 'any' }
  | { readonly type: 'text'; readonly min?: number | undefined; readonly max?: number | undefined }
  | { readonly type: 'number'; readonly min?: number | undefined; readonly max?: number | undefined }
  | { readonly type: 'integer'; readonly min?: number | undefined; readonly max?: number | undefined }
  | { readonly type: 'boolean' }
  | { readonly type: 'null' }
  | { readonly type: 'one_of'; readonly values: readonly Json[] }
  | {
      readonly type: 'list';
      readonly of: Shape;
      readonly min?: number | undefined;
      readonly max?: number | undefined;
    }
  | { readonly type: 'map'; readonly of: Shape; readonly min?: number | undefined }
  | { readonly type: 'object'; readonly open: boolean; readonly fields: readonly ShapeField[] }
  | { readonly type: 'any_of'; readonly of: readonly Shape[] };

export interface ShapeField {
  readonly name: string;
  readonly required: boolean;
  readonly shape: Shape;
}

const bounds = { min: z.number().optional(), max: z.number().optional() };

export const shape: z.ZodType<Shape> = z.lazy(() =>
  z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('any') }),
    z.strictObject({ type: z.literal('text'), ...bounds }),
    z.strictObject({ type: z.literal('number'), ...bounds }),
    z.strictObject({ type: z.literal('integer'), ...bounds }),
    z.strictObject({ type: z.literal('boolean') }),
    z.strictObject({ type: z.literal('null') }),
    z.strictObject({ type: z.literal('one_of'), values: z.array(json) }),
    z.strictObject({ type: z.literal('list'), of: shape, ...bounds }),
    z.strictObject({ type: z.literal('map'), of: shape, min: bounds.min }),
    z.strictObject({
      type: z.literal('object'),
      open: z.boolean(),
      fields: z.array(z.strictObject({ name: z.string(), required: z.boolean(), shape })),
    }),
    z.strictObject({ type: z.literal('any_of'), of: z.array(shape) }),
  ]),
);
