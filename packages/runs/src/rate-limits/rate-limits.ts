import type { Rng } from '@signalbox/model';
import { fraction } from '../tasks/retry.ts';

/**
 * Decides which models may be called now: one window per provider and model, shared by every agent, so that one refusal holds back all of
 * them (§7.6.2). Plain data; time and randomness are arguments.
 */
export interface RateLimits {
  readonly maxConcurrent: number;
  readonly running: number;
  /** Until when no calls are made, by provider and model. */
  readonly closedUntil: ReadonlyMap<string, number>;
}

const DEFAULT_MAX_CONCURRENT = 10;

/** A window closes for a day at most; another refusal closes it again. */
export const LONGEST_WINDOW_MS = 86_400_000;

export interface ModelName {
  readonly provider: string;
  readonly model: string;
}

export type Admission =
  | { readonly kind: 'go'; readonly limits: RateLimits }
  /** The window opens again at `until`. */
  | { readonly kind: 'wait'; readonly until: number }
  /** All slots are taken; one is free after the next `releaseCall`. */
  | { readonly kind: 'full' };

export function openRateLimits(maxConcurrent = DEFAULT_MAX_CONCURRENT): RateLimits {
  return { maxConcurrent, running: 0, closedUntil: new Map() };
}

export function admitCall(limits: RateLimits, name: ModelName, now: number): Admission {
  const until = limits.closedUntil.get(keyOfModel(name)) ?? 0;
  if (until > now) return { kind: 'wait', until };
  if (limits.running >= limits.maxConcurrent) return { kind: 'full' };
  return { kind: 'go', limits: { ...limits, running: limits.running + 1 } };
}

export function releaseCall(limits: RateLimits): RateLimits {
  return { ...limits, running: Math.max(0, limits.running - 1) };
}

/** Until when a model may not be called; undefined if its window is open. */
export function closedUntil(limits: RateLimits, name: ModelName, now: number): number | undefined {
  const until = limits.closedUntil.get(keyOfModel(name));
  return until !== undefined && until > now ? until : undefined;
}

/**
 * Closes a window after a refusal, for the time that the provider asked plus up to a tenth, so that callers do not all return at once. A
 * later report never shortens a window.
 */
export function closeWindow(
  limits: RateLimits,
  name: ModelName,
  refusal: { readonly retryAfterMs: number; readonly now: number },
  rng: Rng,
): RateLimits {
  const { retryAfterMs, now } = refusal;
  const until = now + Math.ceil(Math.min(retryAfterMs, LONGEST_WINDOW_MS) * (1 + fraction(rng) / 10));
  // Expired windows are dropped, which keeps the map small.
  const closed = [...limits.closedUntil].filter(([, end]) => end > now);
  const key = keyOfModel(name);
  const longest = Math.max(until, limits.closedUntil.get(key) ?? 0);
  return { ...limits, closedUntil: new Map([...closed, [key, longest]]) };
}

/** A unique text per model. */
export function keyOfModel({ provider, model }: ModelName): string {
  return JSON.stringify([provider, model]);
}
