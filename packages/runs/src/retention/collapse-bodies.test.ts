import type { Json } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import type { CommitView, Outcome } from '../commit-plan.ts';
import type { Change } from '../frames/change.ts';
import type { RewrittenRecord } from '../log/body-rewrite.ts';
import type { RecordBody, RecordHeader } from '../log/record.ts';
import { collapseBodies } from './collapse-bodies.ts';

const view = {} as CommitView;

/** Record `n` of frame `n`, with one value. */
function record(
  n: number,
  change: Change,
  value: Json,
  more: Partial<RecordBody> = {},
  who = 'driver',
): RewrittenRecord {
  const write = { space: 'state', key: 'a', fromFrame: n, change } as const;
  const body = { salt: 's', frame: { index: n }, intervals: [write], ...more } as unknown as RecordBody;
  const header = { n, who, events: 1 } as RecordHeader;
  const outcome = {
    record: { frames: n + 1 },
    intervals: [{ ...write, value }],
    transitions: [],
  } as unknown as Outcome;
  return { record: { header, body, digest: 'sha256:0' as never }, outcome };
}

const set = (value: Json): Change => ({ kind: 'set', value });
const patch = (value: Json): Change => ({ kind: 'patch', steps: [{ op: 'set', path: ['x'], value }] });

describe('what a collapse leaves of bodies', () => {
  it('[L303] is everything but frame, events and values of collected frames; a patch without its base becomes whole', () => {
    const tasks = [{ id: 'task' }] as never;
    const log = [
      record(0, set({ x: 0 }), { x: 0 }),
      record(1, patch(1), { x: 1 }, { tasks, events: [{}] as never }),
      record(2, patch(2), { x: 2 }, {}, 'outside'),
      record(3, patch(3), { x: 3 }),
    ];
    const rewrite = collapseBodies(log, [{ from: 1, to: 2 }], 4);
    expect(log.map(one => rewrite(one, view))).toEqual([
      undefined,
      { away: { frame: 1, events: true }, tasks },
      { away: {}, frame: { index: 2 }, intervals: [{ ...log[2]?.record.body.intervals?.[0], change: set({ x: 2 }) }] },
      undefined,
    ]);
  });
});
