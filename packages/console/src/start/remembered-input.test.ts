import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { rememberedInput, rememberInput } from './remembered-input.ts';

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => kept.set(key, text),
  });
});
afterEach(() => vi.unstubAllGlobals());

it('[K186] the input that a plan was given last comes back, and what is stored may be anything', () => {
  expect(rememberedInput('a.tsx')).toBe('');
  rememberInput('a.tsx', '{"n":1}');
  rememberInput('b.tsx', '{"n":2}');
  rememberInput('a.tsx', '{"n":3}');
  expect([rememberedInput('a.tsx'), rememberedInput('b.tsx')]).toEqual(['{"n":3}', '{"n":2}']);
  for (const damaged of ['', '{', '[1]', '[["a.tsx"]]', 'null']) {
    localStorage.setItem('signalbox.inputs', damaged);
    expect(rememberedInput('a.tsx')).toBe('');
  }
});
