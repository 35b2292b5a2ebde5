import { type Json, json, text } from '@signalbox/model';
import * as z from 'zod';

const auditLine = z.looseObject({
  at: text.optional(),
  action: text.catch('unknown'),
  by: text.catch(''),
  reason: text.catch(''),
});

/** What a line of the audit says. It was written by this version or an earlier one. */
export function lineOf(value: Json): Pick<z.infer<typeof auditLine>, 'at' | 'action' | 'by' | 'reason'> {
  const parsed = auditLine.safeParse(json.parse(value));
  return parsed.success ? parsed.data : { action: 'unknown', by: '', reason: '' };
}
