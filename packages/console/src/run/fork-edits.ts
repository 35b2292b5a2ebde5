import type { Json } from '@signalbox/model';

/** The keys that a fork begins with another value for. */
export type StateEdits = Readonly<Record<string, Json>>;

/** What was typed, by key, as far as it differs from the state; undefined while something is not JSON. */
export function editsOf(
  state: Readonly<Record<string, Json>>,
  typed: Readonly<Record<string, string>>,
): StateEdits | undefined {
  const edits: Record<string, Json> = {};
  for (const [key, text] of Object.entries(typed)) {
    const value = parsed(text);
    if (value === undefined) return undefined;
    if (JSON.stringify(value) !== JSON.stringify(state[key])) edits[key] = value;
  }
  return edits;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
