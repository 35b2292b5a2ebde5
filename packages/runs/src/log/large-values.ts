import { type Digest, digest, err, type Json, ok, type Result, text, utf8Length } from '@signalbox/model';
import * as z from 'zod';
import { INLINE_MAX_BYTES } from '../artifacts/artifact-record.ts';

/** A value of a body that is in a blob; null in its place. */
export const largeValue = z.strictObject({
  at: z.array(z.union([text, z.int().nonnegative()])).readonly(),
  blob: digest,
});
export type LargeValue = z.infer<typeof largeValue>;

type Place = readonly string[];

/** A body with null in place of large values, and which they were. `places` are paths; '*' stands for every item. */
export function withoutLarge(
  body: Json,
  places: readonly Place[],
  putText: (text: string) => Digest,
): { readonly small: Json; readonly large: readonly LargeValue[] } {
  const large: LargeValue[] = [];

  function visit(value: Json, pattern: Place, at: (string | number)[]): Json {
    const [key, ...rest] = pattern;
    if (key === undefined) {
      const json = JSON.stringify(value);
      if (json.length * 3 <= INLINE_MAX_BYTES || utf8Length(json) <= INLINE_MAX_BYTES) return value;
      large.push({ at, blob: putText(json) });
      return null;
    }
    if (key === '*') {
      if (!Array.isArray(value)) return value;
      const items = value.map((item, index) => visit(item as Json, rest, [...at, index]));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const member = (value as { readonly [key: string]: Json })[key];
    if (member === undefined) return value;
    const kept = visit(member, rest, [...at, key]);
    return kept === member ? value : { ...value, [key]: kept };
  }

  const small = places.reduce((value, pattern) => visit(value, pattern, []), body);
  return { small, large };
}

type Members = { [key: string | number]: Json };

/** The value of an own member; undefined if there is none. */
function memberOf(holder: unknown, key: string | number): unknown {
  return typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key)
    ? (holder as Members)[key]
    : undefined;
}

/** Inserts the values from blobs into a parsed body. The place of each is in the body, and holds null. */
export function withLarge(body: Json, textOf: (blob: Digest) => string): Result<Json, string> {
  const { large } = body as { readonly large?: readonly LargeValue[] };
  if (!Array.isArray(large)) return ok(body);
  for (const { at, blob } of large as readonly LargeValue[]) {
    const last = at.at(-1);
    const holder = at.slice(0, -1).reduce<unknown>(memberOf, body);
    if (last === undefined || memberOf(holder, last) !== null) return err(`its value at ${at.join('.')} has no place`);
    const value = parsedText(textOf(blob));
    if (!value.ok) return err(`its value at ${at.join('.')} is not JSON`);
    (holder as Members)[last] = value.value;
  }
  return ok(body);
}

export function parsedText(json: string): Result<Json, string> {
  try {
    return ok(JSON.parse(json) as Json);
  } catch {
    return err('it is not JSON');
  }
}
