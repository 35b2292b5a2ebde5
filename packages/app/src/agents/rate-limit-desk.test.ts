import { describe, expect, it } from 'vitest';
import { manualMachine } from '../../test/support/run-builders.ts';
import type { ActivityFact } from './host-activity.ts';
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

describe('whoever waits for a model', () => {
  it('[A121] is counted while it waits, and told of when that is over', async () => {
    const machine = manualMachine();
    const facts: ActivityFact[] = [];
    const desk = createRateLimitDesk(machine, { tell: fact => facts.push(fact) });
    (await desk.enter(claude, never))?.(busy);
    const control = new AbortController();
    const waits = [desk.enter(claude, never), desk.enter(claude, control.signal)];
    expect(desk.models()).toMatchObject([{ waiting: 2, closedUntil: expect.any(Number) }]);
    control.abort();
    expect(await waits[1]).toBeUndefined();
    machine.pass(11_000);
    (await waits[0])?.({ kind: 'answered' });
    expect(desk.models()).toMatchObject([{ waiting: 0, closedUntil: undefined, standing: { calls: 2 } }]);
    expect(facts).toEqual([
      { kind: 'call-ended', ...claude, ms: 0, outcome: 'refused' },
      { kind: 'call-waited', ...claude, ms: 0 },
      { kind: 'call-waited', ...claude, ms: 11_000 },
      { kind: 'call-ended', ...claude, ms: 0, outcome: 'answered' },
    ]);
  });

  it('[A121] is seen though the model was never called', async () => {
    const desk = createRateLimitDesk(manualMachine(), { maxConcurrent: 1 });
    const leave = await desk.enter(claude, never);
    void desk.enter(other, never);
    expect(desk.models()).toMatchObject([{ standing: { name: other, calls: 0 }, waiting: 1 }]);
    leave?.();
    expect(desk.models().map(({ standing }) => standing.name.model)).toEqual(['large', 'small']);
  });
});
