import { isJsonObject, type Json } from '@signalbox/model';

interface LogLine {
  readonly at: string | undefined;
  readonly action: string;
  readonly by: string;
  readonly reason: string;
}

/** What a line of the audit says. It was written by this version or an earlier one. */
export function lineOf(value: Json): LogLine {
  const fields = isJsonObject(value) ? value : {};
  return {
    at: textOf(fields.at),
    action: textOf(fields.action) ?? 'unknown',
    by: textOf(fields.by) ?? '',
    reason: textOf(fields.reason) ?? '',
  };
}

const textOf = (value: Json | undefined) => (typeof value === 'string' ? value : undefined);
