import { seededRng } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { admitCall, closedUntil, closeWindow, LONGEST_WINDOW_MS, openRateLimits, releaseCall } from './rate-limits.ts';

const opus = { provider: 'anthropic', model: 'opus' };
const haiku = { provider: 'anthropic', model: 'haiku' };

describe('the rate limits', () => {
  it('[L11] hold back every call to a model that refused one, and no other', () => {
    const closed = closeWindow(openRateLimits(), opus, { retryAfterMs: 1_000, now: 0 }, seededRng(1));
    const until = closed.closedUntil.get('["anthropic","opus"]') ?? 0;
    expect(until).toBeGreaterThanOrEqual(1_000);
    expect(until).toBeLessThanOrEqual(1_100);
    expect(admitCall(closed, opus, 999)).toEqual({ kind: 'wait', until });
    expect(admitCall(closed, opus, until).kind).toBe('go');
    expect(admitCall(closed, haiku, 0).kind).toBe('go');
  });

  it('[L11] never shorten a window, and forget the ones that are over', () => {
    const long = closeWindow(openRateLimits(), opus, { retryAfterMs: 60_000, now: 0 }, seededRng(1));
    const again = closeWindow(long, opus, { retryAfterMs: 10, now: 5 }, seededRng(1));
    expect(again.closedUntil).toEqual(long.closedUntil);
    const later = closeWindow(again, haiku, { retryAfterMs: 10, now: 120_000 }, seededRng(1));
    expect([...later.closedUntil.keys()]).toEqual(['["anthropic","haiku"]']);
  });

  it('[L65] close a window for a day at most, whatever a provider says', () => {
    const closed = closeWindow(openRateLimits(), opus, { retryAfterMs: Number.MAX_VALUE, now: 0 }, seededRng(1));
    expect(closedUntil(closed, opus, 0)).toBeLessThanOrEqual(1.1 * LONGEST_WINDOW_MS);
    expect(closedUntil(closed, opus, 2 * LONGEST_WINDOW_MS)).toBeUndefined();
  });

  it('[L11] admit as many calls at a time as there are places', () => {
    let limits = openRateLimits(2);
    for (const model of [opus, haiku]) {
      const admitted = admitCall(limits, model, 0);
      if (admitted.kind === 'go') limits = admitted.limits;
    }
    expect(admitCall(limits, opus, 0)).toEqual({ kind: 'full' });
    expect(admitCall(releaseCall(limits), opus, 0)).toEqual({ kind: 'go', limits });
    expect(releaseCall(openRateLimits(2)).running).toBe(0);
  });
});
