import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unicode } from '../test/arbitraries.ts';
import { vectors } from '../test/vectors.ts';
import { canonicalJson } from './canonical-json.ts';
import { chainHead, EMPTY_HEAD } from './chain.ts';
import { type Digest, digest, portableHasher } from './digest.ts';

const headOf = (events: readonly string[]) =>
  events.reduce<Digest>((head, event) => chainHead(portableHasher, head, canonicalJson(event)), EMPTY_HEAD);

const events = fc.array(unicode, { minLength: 1, maxLength: 6 });

describe('the head of a log', () => {
  it('[M15] is the one of the frozen vectors', () => {
    let head = EMPTY_HEAD;
    const steps = vectors.chain.steps.map(({ event }) => {
      head = chainHead(portableHasher, head, canonicalJson(event));
      return { event, canonical: canonicalJson(event), head };
    });
    expect({ empty: EMPTY_HEAD, steps }).toEqual({ empty: vectors.chain.empty, steps: vectors.chain.steps });
  });

  it('[M15] is a digest, also before the first event', () => {
    expect([EMPTY_HEAD, headOf(['a'])].map(head => digest.safeParse(head).success)).toEqual([true, true]);
  });

  it('[M16] differs for every other history', () => {
    fc.assert(
      fc.property(events, events, (left, right) => {
        expect(headOf(left) === headOf(right)).toBe(canonicalJson(left) === canonicalJson(right));
      }),
    );
  });

  it('[M16] changes when an event is changed, dropped, added or swapped', () => {
    fc.assert(
      fc.property(events, fc.nat(), (log, pick) => {
        const at = pick % log.length;
        const edits = [
          log.with(at, `${log[at]}!`),
          log.toSpliced(at, 1),
          log.toSpliced(at, 0, 'added'),
          log[at] === log[0] ? [...log, 'last'] : log.with(at, log[0] ?? '').with(0, log[at] ?? ''),
        ];
        expect(edits.map(headOf).filter(head => head === headOf(log))).toEqual([]);
      }),
    );
  });
});
