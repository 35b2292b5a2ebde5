import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { streamRuns } from './streaming-runs.ts';

const [runs, subscribers, turns] = process.env.SIGNALBOX_SOAK === '1' ? [50, 20, 8] : [8, 5, 2];

it('[V136] every client is told everything of every run, once and in order, while all of them stream', async () => {
  const { faults, events, messages } = await streamRuns({
    runs,
    subscribers,
    turns,
    lookMs: 0,
    pace: async () => {
      await setImmediate();
    },
  });
  expect(faults).toEqual([]);
  expect(messages).toBeGreaterThan(events * subscribers);
});
