import {
  type ErrorEnvelope,
  err,
  failure,
  type Json,
  type JsonObject,
  ok,
  type Result,
  tryCanonicalJson,
  utf8Length,
} from '@signalbox/model';
import type * as z from 'zod';
import { budgets } from './bounded-text.ts';
import { runContext } from './event-data.ts';

export type InvalidInput = ErrorEnvelope<'VALIDATION_ERROR'>;

/** A caller's value, checked by its schema. */
export function checkInput<T>(schema: z.ZodType<T>, value: unknown, field: string): Result<T, InvalidInput> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return ok(parsed.data);
  const [issue] = parsed.error.issues;
  const where = [field, ...(issue?.path ?? [])].join('.');
  return err(
    invalidInput(`${where}: ${issue?.message ?? 'is not valid'}`, 'Mend the field and send the call again.', {
      field: where,
    }),
  );
}

/** A context, or a change of one, within its budget. */
export function checkContext(value: unknown): Result<JsonObject, InvalidInput> {
  const canonical = tryCanonicalJson(value);
  if (!canonical.ok) {
    return err(
      invalidInput(
        `context is not plain JSON: ${canonical.error.reason}`,
        'Send objects, lists, texts, numbers, true, false and null only.',
        { field: 'context' },
      ),
    );
  }
  const measuredBytes = utf8Length(canonical.value);
  if (measuredBytes > budgets.context) {
    return err(
      invalidInput(
        `context takes ${measuredBytes} bytes, the most is ${budgets.context} (UTF-8 bytes of RFC 8785 canonical JSON)`,
        'Take blobs out of the context and pass references to them: paths, ids, digests.',
        { field: 'context', measuredBytes, maxBytes: budgets.context, method: 'RFC 8785 (JCS) UTF-8 bytes' },
      ),
    );
  }
  return checkInput(runContext, value, 'context');
}

function invalidInput(message: string, suggestion: string, details: Json): InvalidInput {
  return failure('VALIDATION_ERROR', { message: `${message}.`, suggestion, details });
}
