import { describe, expect, it } from 'vitest';
import { err, ok, type Result } from './result.ts';

describe('results', () => {
  it('[M20] have two shapes, told apart by ok', () => {
    const results: readonly Result<number, { readonly code: 'odd' }>[] = [ok(2), err({ code: 'odd' })];
    expect(results).toEqual([
      { ok: true, value: 2 },
      { ok: false, error: { code: 'odd' } },
    ]);
    expect(results.map(result => (result.ok ? result.value : result.error.code))).toEqual([2, 'odd']);
  });
});
