import type { Digest } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { rollbackWords } from './rollback-words.ts';

const restored = { kind: 'restored', opaqueChanged: [], lost: [] } as const;
const keptOf = (paths: readonly string[]) => ({ digest: 'sha256:00' as Digest, paths });

describe('what a failed call is told about its changes', () => {
  it('[B42] names what was not undone, and what was kept because it may be a person’s', () => {
    expect(rollbackWords(restored)).toBe(' What it changed was undone.');
    expect(rollbackWords({ ...restored, lost: ['a'], left: ['b'], kept: keptOf(['f', 'mine']) })).toBe(
      ' What it changed was undone, except for a, b. A person may have worked there too, so what that overwrote or removed is kept and can be brought back: f, mine.',
    );
    const many = Array.from({ length: 60 }, (_, index) => `f${index}`);
    expect(rollbackWords({ ...restored, kept: keptOf(many) })).toMatch(/: f0, .*, f49 and 10 more\.$/);
  });
});
