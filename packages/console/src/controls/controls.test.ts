import { expect, it } from 'vitest';
import { brakeOf, noBrakeFields } from './brake-fields.ts';
import { lineOf } from './log-line.ts';
import { trustPoints } from './trust-points.ts';

const change = (previousScore: number, newScore: number, hypotheticalScore: number) =>
  ({ previousScore, newScore, hypotheticalScore }) as never;

it('[K125] the form of a brake is the order that it says', () => {
  expect(brakeOf({ ...noBrakeFields, reason: ' stop ' })).toEqual({
    scope: { type: 'all' },
    behavior: 'pause',
    reason: 'stop',
  });
  const timed = { scope: 'workstream two words', behavior: 'kill', release: 'timer', minutes: 2, reason: 'x' } as const;
  expect(brakeOf(timed)).toEqual({
    scope: { type: 'workstream', workstream: 'two words' },
    behavior: 'kill',
    reason: 'x',
    releaseCondition: { type: 'timer', releaseAfterMs: 120_000 },
  });
  expect(brakeOf({ ...noBrakeFields, scope: 'agent one', reason: 'x' }).scope).toEqual({
    type: 'agent',
    agentId: 'one',
  });
});

it('[K126] the chart has a step for each change, and a second line only if it is another one', () => {
  const size = { width: 100, height: 100 };
  const same = { score: 52, hypotheticalScore: 52, history: [change(50, 51, 51), change(51, 52, 52)] };
  expect(trustPoints(same, size)).toMatchObject({
    isApart: false,
    actual: [
      { x: 0, y: 50 },
      { x: 50, y: 49 },
      { x: 100, y: 48 },
    ],
  });
  const apart = { score: 50, hypotheticalScore: 48, history: [change(50, 50, 48)] };
  expect(trustPoints(apart, size)).toMatchObject({
    isApart: true,
    hypothetical: [
      { x: 0, y: 50 },
      { x: 100, y: 52 },
    ],
  });
});

it('[K127] a line of the log that this version does not know is shown as unknown', () => {
  expect(lineOf({ at: '2026-01-01T00:00:00.000Z', action: 'raised', by: 'ada', reason: 'r', tick: 3 })).toMatchObject({
    action: 'raised',
    by: 'ada',
    reason: 'r',
  });
  expect(lineOf({ action: 7 })).toMatchObject({ action: 'unknown', by: '', reason: '' });
  expect(lineOf('text')).toEqual({ at: undefined, action: 'unknown', by: '', reason: '' });
});
