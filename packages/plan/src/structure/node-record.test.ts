import type { Json } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeRecord, nodeRecordOf } from './node-record.ts';

const member = fc.oneof(fc.constantFrom('succeeded', 'running', 'gone', 0, 3, -1, 1.5, 2 ** 60, null, true), fc.json());
const row = fc.oneof(
  fc.record(
    { status: member, iteration: member, signature: member, restart: member, gone: member, other: member },
    { requiredKeys: [] },
  ),
  fc.record({ status: fc.constantFrom('idle', 'failed'), iteration: fc.nat(), signature: fc.string() }),
  fc.jsonValue(),
);

describe('the row of a node’s status', () => {
  it('[V341] is read as its schema reads it, usual or not', () => {
    fc.assert(
      fc.property(row, given => {
        const parsed = nodeRecord.safeParse(given);
        if (parsed.success) expect(nodeRecordOf(given as Json)).toEqual(parsed.data);
        else expect(() => nodeRecordOf(given as Json)).toThrow();
      }),
      { numRuns: 2_000 },
    );
  });
});
