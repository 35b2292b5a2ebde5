import { ok } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { createTestClock, must } from '../../test/builders.ts';
import { createBudgetTracker } from './budget-tracker.ts';
import { createDeadline } from './deadline.ts';

const clock = createTestClock();

describe('budget', () => {
  it('[S33] counts what each evaluation reports in all, and adds over evaluations', () => {
    const tracker = createBudgetTracker({ limits: {}, clock });
    tracker.record('a', { tokens: 100, costMicros: 5 });
    tracker.record('a', { tokens: 150 });
    tracker.record('a', { tokens: 120 });
    tracker.record('b', { tokens: 1 });
    tracker.add('b', { toolCalls: 2 });
    expect(tracker.total()).toEqual({ tokens: 151, costMicros: 5, toolCalls: 2 });
  });

  it.each([
    ['tokens', { tokens: 10 }],
    ['costMicros', { costMicros: 10 }],
    ['toolCalls', { toolCalls: 10 }],
  ] as const)('[S33] refuses further work once the limit of %s is reached', (field, limits) => {
    const tracker = createBudgetTracker({ limits, clock });
    tracker.add('a', { [field]: 9 });
    expect(tracker.check()).toEqual(ok(undefined));
    tracker.add('a', { [field]: 1 });
    expect(tracker.check()).toMatchObject({
      ok: false,
      error: { code: 'tool/budget', details: { field, spent: 10, limit: 10 } },
    });
  });

  it('[S33] counts the wall clock from its beginning', () => {
    const own = createTestClock();
    const tracker = createBudgetTracker({ limits: { wallClockMs: 50 }, clock: own });
    own.advance(49);
    expect(tracker.check().ok).toBe(true);
    own.advance(1);
    expect(tracker.check().ok).toBe(false);
  });

  it('[S33] a number that cannot have been spent is a bug, not a credit', () => {
    const tracker = createBudgetTracker({ limits: { tokens: 1 }, clock });
    for (const tokens of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => tracker.add('a', { tokens })).toThrow('cannot have been spent');
    }
  });

  it('[S34] what descendants spend counts against every ancestor', () => {
    const root = createBudgetTracker({ limits: { tokens: 100 }, clock });
    const child = root.child();
    const grandchild = child.child({ tokens: 1000 });
    const sibling = root.child();
    grandchild.add('g', { tokens: 100 });
    expect([root, child, grandchild, sibling].map(one => one.check().ok)).toEqual([false, false, false, false]);
    expect([root.total().tokens, child.total().tokens, sibling.total().tokens]).toEqual([100, 100, 0]);
  });

  it('[S34] a child that has spent its own budget does not stop its parent', () => {
    const root = createBudgetTracker({ limits: { tokens: 100 }, clock });
    const child = root.child({ tokens: 10 });
    child.add('c', { tokens: 10 });
    expect([root.check().ok, child.check().ok]).toEqual([true, false]);
  });

  it('[S35] restoring a snapshot gives nothing back', async () => {
    const tracker = createBudgetTracker({ limits: {}, clock });
    tracker.add('a', { tokens: 1 });
    const before = must(await tracker.snapshot());
    tracker.add('a', { tokens: 9 });
    must(await must(await tracker.stage(before, { id: 'x', left: 'known' })).apply());
    expect(tracker.total().tokens).toBe(10);
    const fresh = createBudgetTracker({ limits: {}, clock });
    const back = must(await fresh.decode(await tracker.encode(before)));
    must(await must(await fresh.stage(back, { id: 'x', left: 'known' })).apply());
    expect(fresh.total().tokens).toBe(1);
    expect(await fresh.decode({ evaluations: { a: { tokens: -1 } } })).toMatchObject({ ok: false });
  });

  it('[S36] a deadline is an instant on the injected clock', () => {
    const own = createTestClock(1000);
    const until = createDeadline(own, 1500);
    expect([until.remainingMs(), until.hasPassed()]).toEqual([500, false]);
    own.advance(500);
    expect([until.remainingMs(), until.hasPassed()]).toEqual([0, true]);
  });
});
