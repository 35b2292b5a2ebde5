import { describe, expect, it } from 'vitest';
import { manualMachine } from '../../test/support/run-builders.ts';
import { createRateLimitDesk } from './rate-limit-desk.ts';

const claude = { provider: 'anthropic', model: 'large' };
const other = { provider: 'anthropic', model: 'small' };
const busy = { kind: 'refused', retryAfterMs: 10_000, error: { code: 'rate_limit', message: 'busy' } } as const;
const never = new AbortController().signal;

/** Lets everything that can go on go on. */
const settle = () => new Promise(resolve => setImmediate(resolve));

describe('the rate limits', () => {
  it('[A21] hold everybody back from a model that refused one call, and nobody from another', async () => {
    const machine = manualMachine();
    const desk = createRateLimitDesk(machine);
    (await desk.enter(claude, never))?.(busy);
    let entered = 0;
    const waiting = [desk.enter(claude, never), desk.enter(claude, never)];
    for (const wait of waiting) void wait.then(() => (entered += 1));
    expect(await desk.enter(other, never)).toBeTypeOf('function');
    machine.pass(9_999);
    await settle();
    expect(entered).toBe(0);
    machine.pass(1_001);
    await Promise.all(waiting);
    expect(entered).toBe(2);
  });

  it('[A21] let so many call at a time, and the next when one is done', async () => {
    const desk = createRateLimitDesk(manualMachine(), { maxConcurrent: 1 });
    const leave = await desk.enter(claude, never);
    let entered = false;
    const next = desk.enter(other, never).then(() => (entered = true));
    await settle();
    expect(entered).toBe(false);
    leave?.();
    await next;
  });

  it('[A21] let go of a caller that is canceled', async () => {
    const desk = createRateLimitDesk(manualMachine(), { maxConcurrent: 1 });
    await desk.enter(claude, never);
    const control = new AbortController();
    const waiting = desk.enter(claude, control.signal);
    control.abort();
    expect(await waiting).toBeUndefined();
  });
});
