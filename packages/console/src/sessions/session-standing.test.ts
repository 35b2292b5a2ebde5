import type { SessionSummary } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { sessionStanding } from './session-standing.ts';

const session = (health: string, waiting: number, status?: string) =>
  ({ health, waiting, runs: status === undefined ? [] : [{ status }] }) as unknown as SessionSummary;

describe('a guided session', () => {
  it('[K38] has one status: damaged, waiting for the person, or that of its run', () => {
    const signals = [
      session('corrupt_tail', 1, 'in_progress'),
      session('healthy', 2, 'blocked'),
      session('healthy', 0, 'in_progress'),
      session('healthy', 0, 'blocked'),
      session('healthy', 0, 'complete_with_gaps'),
      session('healthy', 0),
    ].map(one => sessionStanding(one).signal);
    expect(signals).toEqual(['failed', 'waiting', 'working', 'held', 'done', 'idle']);
  });
});
