import type { Json, JsonObject } from '@signalbox/model';

/** The canonical JSON of known plain data, without another check. Undefined members are left out, as in stored values. */
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
