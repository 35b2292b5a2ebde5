import type { Json } from '@signalbox/app/host';

/** Parses a JSON argument; the caller validates it. */
export function parseJson(given: string): { readonly ok: true; readonly value: Json } | { readonly ok: false } {
  try {
    return { ok: true, value: JSON.parse(given) as Json };
  } catch {
    return { ok: false };
  }
}
