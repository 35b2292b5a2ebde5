import { canonicalJson, type Json } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { change } from './change.ts';
import { applyChange, changeBetween, replayPatches } from './value-change.ts';

const plain = fc.jsonValue({ maxDepth: 4 }).map(value => JSON.parse(JSON.stringify(value)) as Json);

/** A value and one that was made from it, so that they share most parts. */
const pair = fc.oneof(
  fc.tuple(plain, plain),
  fc
    .tuple(fc.array(plain, { maxLength: 12 }), fc.array(plain, { maxLength: 4 }), fc.nat(12), fc.nat(4))
    .map(([list, insert, at, remove]) => [list, list.toSpliced(at, remove, ...insert)] as [Json, Json]),
  fc
    .tuple(fc.string({ unit: 'binary', minLength: 50, maxLength: 200 }), fc.string({ unit: 'binary' }), fc.nat(200))
    .map(([text, insert, at]) => [text, [...text].toSpliced(at, 2, insert).join('')] as [Json, Json]),
);

describe('a change', () => {
  it('[L1] leads from the old value to the new one, and is plain data', () => {
    fc.assert(
      fc.property(pair, ([old, next]) => {
        const found = changeBetween(old, next);
        if (found === undefined) return canonicalJson(old) === canonicalJson(next);
        const stored = change.parse(JSON.parse(JSON.stringify(found)));
        const applied = applyChange(old, stored);
        return applied.ok && applied.value !== undefined && canonicalJson(applied.value) === canonicalJson(next);
      }),
      { numRuns: 2_000 },
    );
  });

  it('[L1] is the same whether it is made on a copy or, over a whole history, in place', () => {
    fc.assert(
      fc.property(fc.array(pair, { minLength: 1, maxLength: 6 }), pairs => {
        const values = pairs.flat();
        const changes = values.slice(1).map((value, index) => changeBetween(values[index], value));
        const patches = changes.flatMap(found => (found?.kind === 'patch' ? [found.steps] : []));
        let [copied, own] = [values[0], structuredClone(values[0])];
        for (const steps of patches) {
          const before = JSON.stringify(copied);
          const onCopy = applyChange(copied, { kind: 'patch', steps: structuredClone(steps) });
          const inPlace = replayPatches(own, [structuredClone(steps)]);
          expect(JSON.stringify(copied)).toBe(before);
          expect(inPlace).toEqual(onCopy);
          if (!onCopy.ok || !inPlace.ok) return;
          [copied, own] = [onCopy.value, inPlace.value];
        }
      }),
      { numRuns: 500 },
    );
  });

  it('[L1] between nothing and a value is the value, or gone', () => {
    expect([changeBetween(undefined, undefined), changeBetween(undefined, 1), changeBetween(1, undefined)]).toEqual([
      undefined,
      { kind: 'set', value: 1 },
      { kind: 'gone' },
    ]);
    expect(applyChange(1, { kind: 'gone' })).toEqual({ ok: true, value: undefined });
  });

  it('[L2] of a list that grew is what was added', () => {
    const list = Array.from({ length: 1_000 }, (_, index) => ({ index }));
    expect(changeBetween(list, [...list, { index: 1_000 }])).toEqual({
      kind: 'patch',
      steps: [{ op: 'splice', path: [], at: 1_000, remove: 0, insert: [{ index: 1_000 }] }],
    });
  });

  it('[L2] of a small value is the value', () => {
    expect(changeBetween({ a: 1, b: 2 }, { a: 1, b: 3 })).toEqual({ kind: 'set', value: { a: 1, b: 3 } });
  });

  it('[L1] keeps a member named __proto__ a member', () => {
    const old = JSON.parse('{"__proto__": {"a": 1}}') as Json;
    const next = JSON.parse(`{"__proto__": {"a": 2}, "text": "${'x'.repeat(200)}"}`) as Json;
    const found = changeBetween(old, next);
    const applied = found === undefined ? undefined : applyChange(old, found);
    expect(applied?.ok && JSON.stringify(applied.value)).toBe(JSON.stringify(next));
  });

  it.each<[string, Json, Parameters<typeof applyChange>[1], string]>([
    ['a missing item', [1], { kind: 'patch', steps: [{ op: 'set', path: [1, 'a'], value: 1 }] }, 'no item 1'],
    ['a missing member', {}, { kind: 'patch', steps: [{ op: 'set', path: ['a', 'b'], value: 1 }] }, "no 'a'"],
    ['an inherited member', {}, { kind: 'patch', steps: [{ op: 'delete', path: ['toString'] }] }, "no 'toString'"],
    ['no object', 1, { kind: 'patch', steps: [{ op: 'set', path: ['a'], value: 1 }] }, "no object with 'a'"],
    [
      'a list too short',
      [1],
      { kind: 'patch', steps: [{ op: 'splice', path: [], at: 1, remove: 1, insert: [] }] },
      'past',
    ],
    [
      'a text too short',
      'a',
      { kind: 'patch', steps: [{ op: 'splice', path: [], at: 2, remove: 0, insert: '' }] },
      'past',
    ],
    [
      'a list for a text',
      'a',
      { kind: 'patch', steps: [{ op: 'splice', path: [], at: 0, remove: 0, insert: [] }] },
      'neither',
    ],
    ['all of it', 1, { kind: 'patch', steps: [{ op: 'delete', path: [] }] }, 'only a member'],
  ])('[L3] that does not fit is refused: %s', (_name, value, unfit, reason) => {
    const applied = applyChange(value, unfit);
    expect(applied).toMatchObject({ ok: false, error: expect.stringContaining(reason) });
  });

  it('[L3] that patches nothing is refused', () => {
    expect(applyChange(undefined, { kind: 'patch', steps: [{ op: 'set', path: [], value: 1 }] }).ok).toBe(false);
  });
});
