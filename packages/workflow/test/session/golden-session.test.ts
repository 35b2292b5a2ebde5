import { readFileSync } from 'node:fs';
import { nodeHasher } from '@signalbox/journal';
import { canonicalJson } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { encodeBundle } from '../../src/session/bundle.ts';
import { readBundle } from '../../src/session/bundle-reading.ts';
import { goldenBundle } from './golden-session.ts';
import { value } from './guided-session.ts';

const frozen = canonicalJson(
  JSON.parse(readFileSync(new URL('../../../../spec/vectors/workflow-bundle.json', import.meta.url), 'utf8')),
);

describe('the frozen session', () => {
  it('[W60, W95] is read for ever, every kind of event in it', () => {
    const { session } = value(readBundle(nodeHasher, frozen));
    expect(new Set(session.events.map(event => event.kind)).size).toBe(13);
  });

  it('[W61, W72, W94] comes out the same, byte for byte: ids, keys, snapshots, segments and digests', async () => {
    expect(encodeBundle(await goldenBundle())).toBe(frozen);
  });
});
