import type { Digest, Timestamp } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packBody, unpackBody } from './packed-body.ts';
import type { RecordBody } from './record.ts';

const at = '2026-01-01T00:00:00.000Z' as Timestamp;
const time = fc.constantFrom(at, '2026-01-01T00:00:00.001Z' as Timestamp);
const key = fc.constantFrom('a', 'b', 'c');
const change = fc.oneof(
  fc.record({ kind: fc.constant('set'), value: fc.jsonValue() }),
  fc.record({ kind: fc.constant('gone') }),
  fc.constantFrom('x', 'y').map(insert => ({
    kind: 'patch',
    steps: [{ op: 'splice', path: [], at: 0, remove: 0, insert }],
  })),
);
const optional = { requiredKeys: [] };

const body = fc
  .record(
    {
      frame: fc.option(
        fc.record(
          {
            index: fc.nat(3),
            at: time,
            trigger: fc.constant({ kind: 'task' }),
            mounted: fc.array(key, { maxLength: 1 }),
            unmounted: fc.array(key, { maxLength: 1 }),
            written: fc.array(key, { maxLength: 1 }),
            digest: fc.constant(`sha256:${'0'.repeat(64)}` as Digest),
            verifiable: fc.boolean(),
            planVersion: fc.constant(2),
          },
          { requiredKeys: ['index', 'at', 'trigger', 'mounted', 'unmounted', 'written', 'digest', 'verifiable'] },
        ),
        { nil: null },
      ),
      intervals: fc.array(fc.record({ space: fc.constantFrom('state', 'status'), key, fromFrame: fc.nat(4), change })),
      transitions: fc.array(
        fc.record(
          { frame: fc.nat(3), index: fc.nat(3), key, change, at: time, node: key },
          { requiredKeys: ['frame', 'index', 'key', 'change', 'at'] },
        ),
      ),
      tasks: fc.array(
        fc.record(
          {
            id: key,
            iteration: fc.nat(1),
            effects: fc.constantFrom('none', 'external'),
            retryCount: fc.nat(1),
            maxRetries: fc.constantFrom(0, 3),
            backoffMs: fc.constantFrom(1, 1000),
            createdAt: time,
            startedAt: time,
            endedAt: time,
            result: fc.jsonValue(),
          },
          { requiredKeys: ['id', 'iteration', 'effects', 'retryCount', 'maxRetries', 'backoffMs', 'createdAt'] },
        ),
      ),
      events: fc.constant([['frame.committed']]),
    },
    optional,
  )
  .map(parts => ({ salt: 's', ...parts }) as unknown as RecordBody);

describe('a body as it is stored', () => {
  it('[L92] comes out as it went in', () => {
    fc.assert(
      fc.property(body, given => {
        const stored = JSON.parse(JSON.stringify(packBody(given, at)));
        expect(unpackBody(stored, at)).toEqual(JSON.parse(JSON.stringify(given)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('[L92] is refused where a part says nothing and no other part does', () => {
    const bad = [{ intervals: [['state', 'a', 'gone']] }, { transitions: [{ key: 'a', frame: 0 }] }, { tasks: 3 }];
    for (const parts of bad) expect(() => unpackBody({ salt: 's', ...parts } as never, at)).toThrow();
  });
});
