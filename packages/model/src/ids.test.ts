import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainData } from '../test/arbitraries.ts';
import { vectors } from '../test/vectors.ts';
import { canonicalJson } from './canonical-json.ts';
import {
  approvalId,
  artifactId,
  createIdSource,
  deriveId,
  edgeId,
  eventId,
  messageId,
  type NodeId,
  nextTick,
  nodeId,
  payloadId,
  type RunId,
  runId,
  sessionId,
  toolId,
} from './ids.ts';

const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const UUID5 = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const LAST_MSEC = 2 ** 48 - 1;

/** Mints one id per reading of the clock, all from one source. */
function mintAt(readings: readonly number[], bytes: (call: number) => Uint8Array): readonly RunId[] {
  let call = -1;
  const source = createIdSource(
    { now: () => readings[call] ?? 0 },
    {
      bytes: () => {
        call += 1;
        return bytes(call);
      },
    },
  );
  return readings.map(() => source.mint<RunId>());
}

const msecsOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
const randomBytes = fc.uint8Array({ minLength: 16, maxLength: 16 });

describe('minted ids', () => {
  it('[M1] carry version 7, the RFC variant and the millisecond of the clock', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: LAST_MSEC }), randomBytes, (now, random) => {
        const [id = ''] = mintAt([now], () => random);
        expect({ id, msecs: msecsOf(id) }).toEqual({ id: expect.stringMatching(UUID7), msecs: now });
      }),
    );
  });

  it('[M1] are built from the clock and the randomness alone', () => {
    const random = Uint8Array.from({ length: 16 }, (_, index) => index * 16 + index);
    expect(mintAt([0x0190_0000_0000, 0x0190_0000_0000, 0x0190_0000_0001], () => random)).toEqual([
      '01900000-0000-7000-a244-66bbccddeeff',
      '01900000-0000-7000-a244-6abbccddeeff',
      '01900000-0001-7000-a244-66bbccddeeff',
    ]);
  });

  it('[M1] ignore the fraction of a millisecond', () => {
    const ids = mintAt([5.2, 5.9, 5.1], call => new Uint8Array(16).fill(90 - 30 * call));
    expect({ order: ids.toSorted(), msecs: ids.map(msecsOf) }).toEqual({ order: ids, msecs: [5, 5, 5] });
  });

  it('[M2] sort in minting order whatever the clock and the randomness do', () => {
    const clock = fc.array(fc.oneof(fc.constantFrom(7, 8), fc.integer({ min: 0, max: LAST_MSEC })), {
      minLength: 2,
      maxLength: 50,
    });
    fc.assert(
      fc.property(clock, fc.infiniteStream(randomBytes), (readings, random) => {
        const ids = mintAt(readings, () => random.next().value);
        expect(ids.toSorted()).toEqual(ids);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids.filter(id => !UUID7.test(id))).toEqual([]);
      }),
    );
  });

  it('[M2] go on from the latest time when the clock goes back', () => {
    expect(mintAt([1000, 500, 999, 1001], () => new Uint8Array(16)).map(msecsOf)).toEqual([1000, 1000, 1000, 1001]);
  });

  it('[M2] move to the next millisecond when the counter of one is full', () => {
    const full = { msecs: 1000, sequence: 0xffff_ffff };
    expect([
      nextTick({ msecs: 1000, sequence: 0xffff_fffe }, 1000, 9),
      nextTick(full, 1000, 9),
      nextTick(nextTick(full, 1000, 9), 1001, 9),
      nextTick(full, 1001, 9),
    ]).toEqual([
      { msecs: 1000, sequence: 0xffff_ffff },
      { msecs: 1001, sequence: 0 },
      { msecs: 1001, sequence: 1 },
      { msecs: 1001, sequence: 9 },
    ]);
  });
});

describe('derived ids', () => {
  it.each(vectors.ids.derived)('[M3] $name is $id for ever', ({ kind, parts, id }) => {
    expect(deriveId<NodeId>(kind, ...parts)).toBe(id);
  });

  it('[M3] are lower-case UUIDv5 and the same for the same parts, in whatever order keys were made', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(plainData, { maxLength: 4 }), (kind, parts) => {
        const id = deriveId<NodeId>(kind, ...parts);
        expect(id).toMatch(UUID5);
        expect(deriveId<NodeId>(kind, ...JSON.parse(canonicalJson(parts)))).toBe(id);
      }),
    );
  });

  it('[M3] differ where kind, parts or the boundaries between parts differ', () => {
    const name = fc.array(fc.string({ unit: fc.constantFrom('a', '"', ',', '[', ']'), maxLength: 3 }), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(name, name, (left, right) => {
        const [a, b] = [left, right].map(([kind = '', ...parts]) => deriveId<NodeId>(kind, ...parts));
        expect(a === b).toBe(canonicalJson(left) === canonicalJson(right));
      }),
    );
  });
});

describe('id schemas', () => {
  const schemas = {
    runId,
    nodeId,
    edgeId,
    payloadId,
    artifactId,
    eventId,
    messageId,
    toolId,
    approvalId,
    sessionId,
  };
  const valid = '01900000-0000-7abc-8def-000000000001';
  const invalid = [
    valid.toUpperCase(),
    valid.replaceAll('-', ''),
    `{${valid}}`,
    `urn:uuid:${valid}`,
    ` ${valid}`,
    `${valid}\n`,
    valid.slice(0, -1),
    `${valid}0`,
    valid.replace('a', 'g'),
    'sess_01JH',
    '',
    1,
    null,
    undefined,
  ];

  it.each(Object.entries(schemas))('[M4] %s takes a lower-case UUID and nothing else', (_, schema) => {
    expect(schema.parse(valid)).toBe(valid);
    expect(invalid.filter(value => schema.safeParse(value).success)).toEqual([]);
  });

  it('[M4] take every minted and every derived id', () => {
    const [minted] = mintAt([1], () => new Uint8Array(16));
    expect([runId.parse(minted), nodeId.parse(deriveId<NodeId>('node', 1))]).toEqual([minted, deriveId('node', 1)]);
  });
});
