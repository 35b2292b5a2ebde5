import { describe, expect, it } from 'vitest';
import { bytesOnDisk, longRun, type Shape } from './support/long-runs.ts';
import { opened, temporaryHome } from './support/stores.ts';

const [few, many] = process.env.SIGNALBOX_SOAK === '1' ? [1_000, 10_000] : [200, 2_000];

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
