import { type Digest, EMPTY_HEAD, portableHasher, type RunId, type Timestamp } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Change } from '../frames/change.ts';
import { openForeignRecord, openRecord } from './open-record.ts';
import type { RecordDraft } from './record.ts';
import { sealRecord } from './seal-record.ts';

const at = '2026-01-01T00:00:00.000Z' as Timestamp;
const facts = {
  log: '01990000-0000-7000-8000-000000000000' as RunId,
  n: 0,
  at,
  who: 'driver',
  version: 1,
  seq: 0,
  events: 0,
} as const;

function store() {
  const blobs = new Map<Digest, string>();
  const putText = (text: string) => {
    const name = portableHasher(text);
    blobs.set(name, text);
    return name;
  };
  return { blobs, putText, textOf: (blob: Digest) => blobs.get(blob) ?? '' };
}

/** Too large for a record, small, and the value that stands in the place of one that is too large. */
const value = fc.constantFrom<Change & { kind: 'set' }>(
  { kind: 'set', value: 'a'.repeat(70_000) },
  { kind: 'set', value: 'b'.repeat(70_000) },
  { kind: 'set', value: 'small' },
  { kind: 'set', value: null },
);

const draft = fc.record({ held: value, steps: fc.array(value, { maxLength: 3 }), other: value }).map(
  ({ held, steps, other }): RecordDraft => ({
    intervals: [
      { space: 'state', key: 'a', fromFrame: 0, change: held },
      { space: 'state', key: 'b', fromFrame: 0, change: other },
    ],
    transitions: steps.map((change, index) => ({ frame: 0, index, key: 'a', change, at })),
  }),
);

/** Readable where it fails. */
function shortened(value: object): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/([ab])\1{69999}/g, 'many $1'));
}

describe('a sealed record', () => {
  it('[L305] comes out as it went in, whichever of its values lie in blobs', () => {
    fc.assert(
      fc.property(draft, given => {
        const { putText, textOf } = store();
        const record = sealRecord({ hasher: portableHasher, salt: () => 's', putText }, EMPTY_HEAD, facts, given);
        const opened = openRecord(record, portableHasher, textOf);
        if (!opened.ok) throw new Error(opened.error);
        const { salt: _, large: __, ...body } = opened.value.body;
        expect(shortened(body)).toEqual(shortened(given));
      }),
      { numRuns: 60 },
    );
  });

  it('[L306] that names a place outside its own body is refused, and changes nothing else', () => {
    const { putText, textOf } = store();
    const blob = putText('"polluted"');
    const places = [
      ['__proto__', 'polluted'],
      ['constructor', 'prototype', 'polluted'],
      ['salt', 'length', 'x'],
      ['salt'],
      [],
    ];
    for (const place of places) {
      const body = JSON.stringify({ salt: 's', large: [{ at: place, blob }] });
      const header = JSON.stringify({ v: 1, ...facts, blobs: [blob], body: portableHasher(body) });
      const opened = openForeignRecord({ header, body }, portableHasher, textOf);
      expect([place, opened.ok]).toEqual([place, false]);
      expect(({} as { readonly polluted?: unknown }).polluted).toBeUndefined();
      delete (Object.prototype as { polluted?: unknown }).polluted;
    }
  });
});
