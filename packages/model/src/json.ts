import * as z from 'zod';

/** Plain data: what may be persisted, hashed or sent. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export const json: z.ZodType<Json> = z.json();

/** An object of plain data whose keys are not fixed. */
export const jsonObject: z.ZodType<{ readonly [key: string]: Json }> = z.record(z.string(), json);
export type JsonObject = z.infer<typeof jsonObject>;
