import type { Json, ValuePair } from '@signalbox/model';

type Values = Readonly<Record<string, Json>>;

/** The name of a value that has no parts with names. */
const WHOLE = 'value';

/** A value by its members. */
export function partsOf(value: Json | undefined): Values {
  if (value === undefined || value === null) return {};
  return typeof value === 'object' && !Array.isArray(value) ? (value as Values) : { [WHOLE]: value };
}

/** The values that differ, by key. */
export function pairsOf(a: Values, b: Values): readonly ValuePair[] {
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].toSorted();
  return keys.flatMap((key): readonly ValuePair[] => {
    const [old, now] = [a[key], b[key]];
    if (JSON.stringify(old) === JSON.stringify(now)) return [];
    return [{ key, ...(old !== undefined && { a: old }), ...(now !== undefined && { b: now }) }];
  });
}
