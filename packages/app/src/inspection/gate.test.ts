import { ok, type Result } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { createGate } from './gate.ts';

const calm = () => new Promise<void>(resolve => setImmediate(resolve));

describe('a gate', () => {
  it('[A119] lets so many in, has so many wait in their order, and refuses the rest', async () => {
    const gate = createGate({ atOnce: 2, waiting: 1 });
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const work = (index: number) => () =>
      new Promise<Result<number, never>>(resolve => {
        begun.push(index);
        ends[index] = () => resolve(ok(index));
      });
    const asked = [0, 1, 2, 3].map(index => gate.enter(work(index)));
    await calm();
    expect(begun).toEqual([0, 1]);
    expect(await asked[3]).toMatchObject({ ok: false, error: { code: 'request/too-many' } });
    ends[1]?.();
    expect(await asked[1]).toEqual(ok(1));
    await calm();
    expect(begun).toEqual([0, 1, 2]);
    ends[0]?.();
    ends[2]?.();
    expect(await Promise.all([asked[0], asked[2]])).toEqual([ok(0), ok(2)]);
  });

  it('[A119] is left by work that throws', async () => {
    const gate = createGate({ atOnce: 1, waiting: 0 });
    await expect(gate.enter(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await gate.enter(async () => ok('in'))).toEqual(ok('in'));
  });
});
