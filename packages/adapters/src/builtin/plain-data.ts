import type { Json } from '@signalbox/model';

/** A value as plain data: what JSON does not have is dropped, and every text has a UTF-8 form. */
export function plainData(value: unknown): Json {
  const encoded = JSON.stringify(value);
  return encoded === undefined ? null : wellFormed(JSON.parse(encoded) as Json);
}

function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(wellFormed);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key.toWellFormed(), wellFormed(part as Json)]));
}
