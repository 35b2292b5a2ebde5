import type { Json } from '@signalbox/model';
import { changeBetween } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { sized } from '../../../test/sized.ts';
import { at, frame, interval, set, startRun } from '../../runs/test/builders.ts';
import { bytesOnDisk, longRun, type Shape } from './support/long-runs.ts';
import { opened, temporaryHome, temporaryStore } from './support/stores.ts';
import { watchedDatabase } from './support/watched-database.ts';

const [few, many] = sized([100, 800], [200, 2_000], [1_000, 10_000]);

async function bytesPerStep(shape: Shape, steps: number): Promise<number> {
  const home = temporaryHome();
  opened(home).close();
  const empty = bytesOnDisk(home);
  const store = opened(home);
  const { run } = await longRun(store, shape, steps);
  const record = await store.run(run);
  expect([record?.frames, record?.version]).toEqual([steps, 1 + 2 * steps]);
  // Closing checkpoints the write-ahead log into the file.
  store.close();
  return (bytesOnDisk(home) - empty) / steps;
}

describe('a long run', () => {
  it.each<Shape>(['siblings', 'iterations', 'growing state', 'growing list'])(
    `[D15] takes as many bytes per step at ${many} steps as at ${few}: %s`,
    async shape => {
      const [short, long] = [await bytesPerStep(shape, few), await bytesPerStep(shape, many)];
      expect(long / short).toBeLessThanOrEqual(1.2);
      expect(long).toBeLessThan(6_000);
    },
  );

  it('[D15] of a list that grows shows the list as it was at any frame', async () => {
    const home = temporaryHome();
    const store = opened(home);
    const { run } = await longRun(store, 'growing list', 150);
    for (const index of [1, 77, 150]) {
      expect(await store.valueAt(run, 'state', 'log', index)).toEqual(
        Array.from({ length: index }, (_, step) => ({ step, text: 'x'.repeat(170) })),
      );
    }
    const page = await store.transitions(run, { from: { frame: 100, index: 0 }, limit: 1 });
    expect(page.items[0]?.new).toHaveLength(101);
    expect(page.items[0]?.old).toHaveLength(100);
    store.close();
  });
});

describe('a value that changes in place for ever', () => {
  it('[D17] is written as a whole often enough that reading it costs in proportion to it', async () => {
    const watched = watchedDatabase();
    const store = temporaryStore({ connect: watched.connect });
    const writer = await startRun(store);
    const valueAt = (step: number): Json => ({ counter: step, padding: 'p'.repeat(1_000) });
    const bytes = JSON.stringify(valueAt(1_000)).length;
    const sinceWhole = watched.database().prepare(`
      select sum(length(value)) as bytes from intervals where from_frame >= (
        select max(from_frame) from intervals where kind = 0)`);
    let [worst, patches] = [0, 0];
    for (let step = 0; step < 600; step++) {
      const change = step === 0 ? set(valueAt(0)) : changeBetween(valueAt(step - 1), valueAt(step));
      if (change === undefined) throw new Error('nothing changed');
      if (change.kind === 'patch') patches += 1;
      await writer.write({ at: at(), frame: frame(step), intervals: [interval('state', 'a', step, change)] });
      worst = Math.max(worst, Number(sinceWhole.get()?.bytes));
    }
    expect(patches).toBe(599);
    expect(worst).toBeGreaterThan(2 * bytes);
    expect(worst).toBeLessThanOrEqual(8 * bytes);
    expect(await store.valueAt(writer.run, 'state', 'a', 300)).toEqual(valueAt(300));
    expect(await store.valueAt(writer.run, 'state', 'a', 599)).toEqual(valueAt(599));
  });
});
