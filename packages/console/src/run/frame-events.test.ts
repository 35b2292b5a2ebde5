import type { Client } from '@signalbox/client';
import { ok, type RunId, type WireEvent, type WireStoredEvent } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { eventsOfFrame } from './frame-events.ts';

const run = '01890000-0000-7000-8000-00000000dead' as RunId;

/** A run whose frames each follow so many other events. */
function history(lengths: readonly number[]) {
  const events: WireEvent[] = [];
  const add = (fields: object) => events.push({ seq: events.length, ...fields } as WireEvent);
  for (const [frame, length] of lengths.entries()) {
    for (let place = 0; place < length; place += 1) add({ type: 'state.changed', of: frame });
    add({ type: 'frame.committed', frame });
  }
  add({ type: 'run.status' });
  let reads = 0;
  const client: Pick<Client, 'events'> = {
    async events(_, { from = 0, limit = 100 } = {}) {
      reads += 1;
      const page = events.slice(from, from + limit);
      const stored = page.map(event => ({ event, hash: '' }) as unknown as WireStoredEvent);
      return ok({ events: stored, next: from + page.length });
    },
  };
  return { client, total: events.length, reads: () => reads };
}

describe('the events of a frame', () => {
  it.each([
    ['short', [3, 0, 2, 5, 1]],
    ['with a long wait', [3, 900, 2, 0, 700, 1]],
  ])('[K33] are those after the frame before it, up to its own commit: %s', async (_, lengths) => {
    const { client, total } = history(lengths);
    for (const [frame, length] of lengths.entries()) {
      const found = await eventsOfFrame(client, run, frame, total);
      expect(found.map(({ type, of, frame: committed }) => of ?? `${type} ${committed}`)).toEqual([
        ...Array.from({ length }, () => frame),
        `frame.committed ${frame}`,
      ]);
    }
  });

  it('[K33] are found by binary search', async () => {
    const { client, total, reads } = history(Array.from({ length: 10_000 }, () => 4));
    expect((await eventsOfFrame(client, run, 6_789, total)).length).toBe(5);
    expect(reads()).toBeLessThan(14);
  });
});
