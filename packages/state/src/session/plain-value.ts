import { err, type Json, json, ok, type Result } from '@signalbox/model';
import type * as z from 'zod';

/** The value as its schema reads it, if that is plain data too; else why not. */
export function plainValue(schema: z.ZodType, value: unknown): Result<Json, string> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) return err(parsed.error.issues[0]?.message ?? 'not valid');
  const plain = json.safeParse(parsed.data);
  return plain.success ? ok(plain.data) : err(plain.error.issues[0]?.message ?? 'not plain data');
}
