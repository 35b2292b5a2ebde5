import type { Json } from '@signalbox/model';

/** A value as plain data: anything JSON cannot represent is dropped, and every text is valid UTF-8. */
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
