import * as z from 'zod';

/** Milliseconds, or a number with its unit: `250ms`, `30s`, `5m`, `2h`. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h'}`;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const PATTERN = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;

/** Throws a `TypeError` for anything else. */
export function durationMs(given: Duration): number {
  const ms = parsedMs(given);
  if (ms === undefined) throw new TypeError(`${String(given)} is no duration: give milliseconds, or "30s", "5m", "2h"`);
  return ms;
}

/** A duration in props, as milliseconds. */
export const duration = z
  .custom<Duration>(given => (parsedMs(given) ?? 0) >= 1, 'must be milliseconds, or a text such as "30s", "5m" or "2h"')
  .transform(given => durationMs(given));

function parsedMs(given: unknown): number | undefined {
  if (typeof given === 'number') return Number.isFinite(given) && given >= 0 ? Math.round(given) : undefined;
  const [, amount, unit = ''] = PATTERN.exec(String(given)) ?? [];
  return amount === undefined ? undefined : Math.round(Number(amount) * (UNITS[unit] ?? 1));
}
