import type { WireArtifact } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { artifactsPlaceOf, thingOf } from './artifact-thing.ts';

describe('an artifact', () => {
  it('[K58] is the same thing in all versions of its key in its run, and a separate one without a key', () => {
    const made = [
      { id: '1', run: 'a', key: 'k' },
      { id: '2', run: 'a', key: 'k' },
      { id: '3', run: 'b', key: 'k' },
      { id: '4', run: 'a' },
      { id: '5', run: 'a' },
    ] as unknown as readonly WireArtifact[];
    expect(made.map(thingOf)).toEqual(['a k', 'a k', 'b k', '4', '5']);
  });

  it('[K58] is selected by an address, whose unknown parts are dropped', () => {
    expect(artifactsPlaceOf({ kind: 'table', q: 7, at: 'x', versions: 'all' })).toEqual({
      kind: 'table',
      q: '7',
      at: 'x',
      versions: 'all',
    });
    expect(artifactsPlaceOf({ kind: {}, q: '', at: 1, versions: 'some' })).toEqual({});
  });
});
