import type { Json, JsonObject } from '@signalbox/model';

/**
 * The canonical JSON of what was found to be plain data before: no check is made again. Members that are undefined are
 * left out, as they are where a value is kept.
 */
export function plainText(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(plainText).join()}]`;
  const members = value as JsonObject;
  let text = '';
  for (const key of Object.keys(members).sort()) {
    const member = members[key];
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${plainText(member)}`;
  }
  return `{${text}}`;
}
