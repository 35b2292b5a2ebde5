import { type Json, json, text } from '@signalbox/model';
import * as z from 'zod';

const path = z.array(z.union([text, z.int().nonnegative()])).readonly();

/**
 * One step of a patch. `splice` replaces a part of a list or, counted in UTF-16 units, of a text; so appending costs only what was added.
 */
export const patchStep = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('set'), path, value: json }),
  z.strictObject({ op: z.literal('delete'), path }),
  z.strictObject({
    op: z.literal('splice'),
    path,
    at: z.int().nonnegative(),
    remove: z.int().nonnegative(),
    insert: z.union([text, z.array(json).readonly()]),
  }),
]);
export type PatchStep = z.infer<typeof patchStep>;

/** How one value became another. A patch applies to the value right before it. */
export const change = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('set'), value: json }),
  z.strictObject({ kind: z.literal('patch'), steps: z.array(patchStep).min(1).readonly() }),
  z.strictObject({ kind: z.literal('gone') }),
]);
export type Change = z.infer<typeof change>;

/** A value, or undefined if there is none. */
export type Maybe = Json | undefined;
