import { manualTicks } from '@signalbox/testkit';
import { expect, it } from 'vitest';

it('[U20] calls handlers once per tick, in order, after the count is readable', () => {
  const ticks = manualTicks(5);
  const seen: string[] = [];
  ticks.onTick(tick => seen.push(`a${tick}${ticks.currentTick()}`));
  ticks.onTick(tick => seen.push(`b${tick}`));
  ticks.advance(2);
  expect(seen).toEqual(['a66', 'b6', 'a77', 'b7']);
});

it('[U20] calls no handler while it is stopped or after the end of its subscription', () => {
  const ticks = manualTicks();
  const seen: number[] = [];
  const end = ticks.onTick(tick => seen.push(tick));
  ticks.stop();
  ticks.advance(3);
  ticks.start();
  ticks.advance(1);
  end();
  ticks.advance(1);
  expect([seen, ticks.currentTick()]).toEqual([[1], 2]);
});

it('[U20] stops within an advance', () => {
  const ticks = manualTicks();
  ticks.onTick(tick => {
    if (tick === 2) ticks.stop();
  });
  ticks.advance(5);
  expect(ticks.currentTick()).toBe(2);
});
