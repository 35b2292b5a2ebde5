import { err, type Json, json, ok, type Result } from '@signalbox/model';
import type * as z from 'zod';

/** The value parsed by its schema, if the result is plain data; otherwise the reason. */
export function plainValue(schema: z.ZodType, value: unknown): Result<Json, string> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) return err(parsed.error.issues[0]?.message ?? 'not valid');
  const plain = json.safeParse(parsed.data);
  return plain.success ? ok(plain.data) : err(plain.error.issues[0]?.message ?? 'not plain data');
}
