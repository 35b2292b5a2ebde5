import type { WireProvider } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { providersOfInterest, windowWords } from './provider-words.ts';

const NOW = Date.parse('2026-03-10T12:00:00.000Z');
const provider = (name: string, health: string, isSet?: boolean) =>
  ({ name, health, ...(isSet !== undefined && { key: { name: 'KEY', isSet } }) }) as WireProvider;

describe('model providers', () => {
  it('[K62] are those that were called or have a key, unhealthy ones first', () => {
    const all = [
      provider('a', 'unknown', false),
      provider('b', 'ok'),
      provider('c', 'unknown', true),
      provider('d', 'limited'),
      provider('e', 'failing'),
      provider('f', 'unknown'),
    ];
    expect(providersOfInterest(all).map(({ name }) => name)).toEqual(['e', 'd', 'b', 'c']);
  });

  it('[K62] show what is left of their limits, and when they reset', () => {
    const words = [
      { counts: 'requests', limit: 50, remaining: 3, resetsAt: '2026-03-10T12:01:05.000Z' },
      { counts: 'input_tokens', limit: 40_000 },
      { counts: 'tokens', remaining: 0, resetsAt: '2026-03-10T11:00:00.000Z' },
      { counts: 'tokens' },
    ].map(window => windowWords({ model: 'm', ...window } as Parameters<typeof windowWords>[0], NOW));
    expect(words).toEqual([
      'm: 3 of 50 requests left, resets in 1 min 5 s',
      'm: at most 40.0 k input tokens',
      'm: 0 tokens left, resets in 0 s',
      'm: a limit of tokens',
    ]);
  });
});
