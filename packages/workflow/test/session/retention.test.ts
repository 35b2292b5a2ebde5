import type { Digest, SessionId } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SessionHealth } from '../../src/projections/session-gate.ts';
import { decideRetention, decideSnapshotCollection, retentionDefaults } from '../../src/session/retention.ts';

const DAY = 24 * 60 * 60 * 1000;
const NOW = 400 * DAY;
const id = (number: number) => `01900000-0000-7000-8000-${String(number).padStart(12, '0')}` as SessionId;
const ref = (number: number) => `sha256:${String(number).padStart(64, '0')}` as Digest;
const health = fc.constantFrom<SessionHealth>('healthy', 'corrupt_tail', 'corrupt_head', 'unknown_version');

describe('retention', () => {
  it('[W99] lets go of sessions that are old, healthy and not kept', () => {
    const session = (number: number, days: number, change: object = {}) => ({
      sessionId: id(number),
      health: 'healthy' as const,
      lastActiveAt: NOW - days * DAY,
      isKept: false,
      ...change,
    });
    const sessions = [
      session(5, 89),
      session(4, 200, { isKept: true }),
      session(3, 200, { health: 'corrupt_tail' }),
      session(2, 90),
      session(1, 200),
    ];
    expect(decideRetention(sessions, NOW)).toEqual({
      expired: [id(1), id(2)],
      retained: [
        { sessionId: id(3), because: 'not_healthy' },
        { sessionId: id(4), because: 'kept' },
        { sessionId: id(5), because: 'active' },
      ],
    });
    expect(decideRetention(sessions, NOW, 10 * DAY).expired).toEqual([id(1), id(2), id(5)]);
    expect(retentionDefaults.ttlMs).toBe(90 * DAY);
  });

  it('[W100] lets go of snapshots that no session pins and that are not young', () => {
    const retained = [
      { sessionId: id(1), health: 'healthy' as const, pins: [ref(1), ref(2)] },
      { sessionId: id(2), health: 'healthy' as const, pins: [ref(2)] },
    ];
    const stored = [4, 3, 2, 1].map(number => ({ ref: ref(number), storedAt: NOW - DAY }));
    const young = { ref: ref(5), storedAt: NOW - 1000 };
    expect(decideSnapshotCollection(retained, [...stored, young], NOW)).toEqual({
      mode: 'sweep',
      unreachable: [ref(3), ref(4)],
    });
  });

  it('[W100] lets go of nothing where a manifest cannot be trusted', () => {
    const stored = [{ ref: ref(9), storedAt: 0 }];
    for (const bad of ['corrupt_tail', 'corrupt_head', 'unknown_version'] as const) {
      const retained = [
        { sessionId: id(2), health: bad, pins: [] },
        { sessionId: id(1), health: 'healthy' as const, pins: [] },
      ];
      expect(decideSnapshotCollection(retained, stored, NOW)).toEqual({ mode: 'safe', untrusted: [id(2)] });
    }
  });

  it('[W100] never lets go of what is pinned', () => {
    const pins = fc.array(fc.nat({ max: 20 }).map(ref));
    const sessions = fc.array(fc.record({ sessionId: fc.nat({ max: 9 }).map(id), health, pins }));
    const stored = fc.array(fc.record({ ref: fc.nat({ max: 20 }).map(ref), storedAt: fc.nat({ max: NOW }) }));
    fc.assert(
      fc.property(sessions, stored, (retained, there) => {
        const collection = decideSnapshotCollection(retained, there, NOW);
        if (collection.mode === 'safe') return;
        const pinned = new Set(retained.flatMap(session => session.pins));
        expect(collection.unreachable.filter(gone => pinned.has(gone))).toEqual([]);
      }),
    );
  });
});
