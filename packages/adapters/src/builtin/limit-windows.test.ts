import { describe, expect, it } from 'vitest';
import { limitWindows } from './limit-windows.ts';

const now = Date.parse('2026-01-31T12:00:00Z');

describe('the limits that a provider tells', () => {
  it('are read from the headers of Anthropic', () => {
    const headers = {
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '49',
      'anthropic-ratelimit-requests-reset': '2026-01-31T12:00:30Z',
      'anthropic-ratelimit-input-tokens-limit': '30000',
      'anthropic-ratelimit-input-tokens-remaining': '0',
    };
    expect(limitWindows(headers, now)).toEqual([
      { counts: 'requests', limit: 50, remaining: 49, resetsAt: now + 30_000 },
      { counts: 'input_tokens', limit: 30_000, remaining: 0 },
    ]);
  });

  it.each([
    ['1s', 1_000],
    ['6m0s', 360_000],
    ['120ms', 120],
    ['1h2m3.5s', 3_723_500],
    ['7.66s', 7_660],
  ])('are read from those of OpenAI, whole again in %s', (reset, ms) => {
    const headers = {
      'x-ratelimit-limit-tokens': '150000',
      'x-ratelimit-remaining-tokens': '149984',
      'x-ratelimit-reset-tokens': reset,
    };
    const expected = { counts: 'tokens', limit: 150_000, remaining: 149_984, resetsAt: now + ms };
    expect(limitWindows(headers, now)).toEqual([expected]);
  });

  it.each(['', 'soon', '-1', '1e9', '99999d', `${'1s'.repeat(40)}`, '2026', 'null', '١s'])(
    'are not guessed from %j',
    text => {
      const names = ['limit', 'remaining', 'reset'];
      const garbage = names.flatMap(part => [
        [`anthropic-ratelimit-requests-${part}`, text],
        [`x-ratelimit-${part}-requests`, text],
      ]);
      for (const window of limitWindows(Object.fromEntries(garbage), now)) {
        expect(window).toEqual({ counts: 'requests', limit: 2026, remaining: 2026 });
      }
      expect(limitWindows({ 'x-ratelimit-limit-requests': '5', 'x-ratelimit-reset-requests': text }, now)).toEqual([
        { counts: 'requests', limit: 5 },
      ]);
    },
  );
});
