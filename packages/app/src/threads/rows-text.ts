import type { RunReader } from '@signalbox/runs';

type Rows = Awaited<ReturnType<RunReader['at']>>;

/** Rows as passed to a thread: text is cheaper to pass than objects. Their values came from JSON. */
export function rowsText(rows: Rows): string {
  return JSON.stringify([...rows]);
}

export function rowsOfText(text: string): Rows {
  return new Map(JSON.parse(text));
}
