import type { Json } from '@signalbox/app/runs';

/** An argument that is JSON. Whether it is the right JSON is for its taker to say. */
export function parseJson(given: string): { readonly ok: true; readonly value: Json } | { readonly ok: false } {
  try {
    return { ok: true, value: JSON.parse(given) as Json };
  } catch {
    return { ok: false };
  }
}
