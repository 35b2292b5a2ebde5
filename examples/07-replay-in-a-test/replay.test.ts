import { verifyReplay } from 'signalbox';
import { expect, it } from 'vitest';

const bundle = new URL('run.bundle', import.meta.url);

it('makes every frame of the recorded run again, without doing its work', async () => {
  expect(await verifyReplay(bundle, { trust: true })).toEqual([
    { run: expect.any(String), name: 'short-note', frames: expect.any(Number) },
  ]);
});

it('still makes the same frames with the plan as it is now', async () => {
  await verifyReplay(bundle, { plan: new URL('plan.tsx', import.meta.url) });
});
