import type { Json, JsonObject } from '@signalbox/model';

/** The canonical JSON of known plain data, without another check. Undefined members are left out, as in stored values. */
export function plainText(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(plainText).join()}]`;
  const members = value as JsonObject;
  let text = '';
  for (const key of sortedKeys(members)) {
    const member = members[key];
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${plainText(member)}`;
  }
  return `{${text}}`;
}

/** Longer lists are left to the platform. */
const FEW = 16;

/** By code units. Most objects have a few keys, which are sorted in place: the platform's sort copies them several times. */
function sortedKeys(members: JsonObject): readonly string[] {
  const keys = Object.keys(members);
  if (keys.length > FEW) return keys.sort();
  for (let next = 1; next < keys.length; next++) {
    const key = keys[next] as string;
    let at = next;
    for (; at > 0 && (keys[at - 1] as string) > key; at--) keys[at] = keys[at - 1] as string;
    keys[at] = key;
  }
  return keys;
}
