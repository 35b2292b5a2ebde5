import { type Digest, portableHasher, type RunId, type Timestamp } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import type { OpenRecord } from './open-record.ts';
import { openRecord } from './open-record.ts';
import type { RecordBody, RecordHeader } from './record.ts';
import { recordEvents } from './record-events.ts';
import { awayCheck, type TakingAway } from './taken-away.ts';

const at = '2026-01-01T00:00:00.000Z' as Timestamp;
const digestOf = (text: string): Digest => portableHasher(text);

function record(
  n: number,
  body: Partial<RecordBody>,
  digests: { readonly named: string; readonly found?: string },
): OpenRecord {
  const named = digestOf(digests.named);
  const header = { n, at, body: named, log: 'run' as RunId, seq: 2, events: 2 } as RecordHeader;
  return { header, body: { salt: '', ...body }, digest: digests.found === undefined ? named : digestOf(digests.found) };
}

const taken = (
  ...records: readonly (readonly [n: number, was: string, now: string])[]
): { readonly taken: TakingAway } => ({
  taken: {
    kind: 'redaction',
    by: 'anna',
    why: 'it leaked',
    records: records.map(([n, was, now]) => ({ n, was: digestOf(was), now: digestOf(now) })),
  },
});

function checked(...records: readonly OpenRecord[]) {
  const check = awayCheck();
  const faults = records.map(one => check.take(one)).filter(fault => fault !== undefined);
  return { faults, end: check.end(), taken: check.taken };
}

describe('bodies that were replaced', () => {
  it('[L300] are those that the last record to replace them names', () => {
    const once = [record(0, {}, { named: 'a' }), record(1, { away: { by: 2 } }, { named: 'b', found: 'b2' })];
    expect(checked(...once, record(2, taken([1, 'b', 'b2']), { named: 'c' }))).toEqual({
      faults: [],
      end: undefined,
      taken: [{ kind: 'redaction', by: 'anna', why: 'it leaked', record: 2, at, records: [1] }],
    });
    const twice = [
      record(0, { away: { by: 2 } }, { named: 'a', found: 'a3' }),
      record(1, taken([0, 'a', 'a2']), { named: 'b' }),
      record(2, taken([0, 'a2', 'a3']), { named: 'c' }),
    ];
    expect(checked(...twice)).toMatchObject({ faults: [], end: undefined });
  });

  it('[L300] come before the record that replaces them, and were what it says', () => {
    const first = record(0, {}, { named: 'a' });
    expect(checked(first, record(1, taken([1, 'b', 'c']), { named: 'b' })).faults).toMatchObject([
      /does not come before/,
    ]);
    expect(checked(first, record(1, taken([0, 'x', 'y']), { named: 'b' })).faults).toMatchObject([/was another one/]);
  });

  it('[L301] are named where no record says so, where they are back, and where the log ends before that record', () => {
    const replaced = record(0, { away: { by: 1 } }, { named: 'a', found: 'a2' });
    expect(checked(replaced, record(1, {}, { named: 'b' })).end).toMatchObject({ record: 0, what: /no record says/ });
    expect(checked(record(0, {}, { named: 'a' }), record(1, taken([0, 'a', 'a2']), { named: 'b' })).end).toMatchObject({
      record: 0,
      what: /record 1 put in its place/,
    });
    expect(checked(replaced).end).toMatchObject({ record: 0, awaits: 1 });
  });

  it('[L301] are opened only if they say which record replaced them', () => {
    const header = JSON.stringify({
      v: 1,
      log: '01890000-0000-7000-8000-000000000001',
      n: 3,
      at,
      who: 'driver',
      version: 1,
      seq: 0,
      events: 0,
      body: digestOf('other'),
    });
    expect(openRecord({ header, body: '{"salt":"x"}' }, portableHasher)).toMatchObject({ ok: false });
    expect(openRecord({ header, body: '{"salt":"x","away":{"frame":1}}' }, portableHasher)).toMatchObject({
      ok: false,
    });
    expect(openRecord({ header, body: '{"salt":"x","away":{"by":4}}' }, portableHasher)).toMatchObject({ ok: true });
  });

  it('[L302] tell their events as gone, one for each number', () => {
    const { header, body } = record(1, { away: { by: 2, events: true } }, { named: 'a' });
    const told = recordEvents(header, body, portableHasher('a'));
    const events = told.ok ? told.value.map(({ event }) => event) : [];
    expect(events).toMatchObject([
      { type: 'event.gone', ts: at },
      { type: 'event.gone', ts: at },
    ]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(2);
  });
});
