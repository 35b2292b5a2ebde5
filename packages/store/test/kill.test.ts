import { seededRng, startChild } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { isChained } from '../../runs/test/log-chain.ts';
import { opened, temporaryHome } from './support/stores.ts';

const CHILD = childScript(import.meta.dirname, 'support/child.ts');

describe('a process that is killed in a loop of commits', () => {
  const kills = process.env.SIGNALBOX_SOAK === '1' ? 300 : 8;

  it(`[D6] loses no acknowledged commit and doubles none in ${kills} kills, and the chain of hashes holds`, async () => {
    const home = temporaryHome();
    const rng = seededRng(20_261_115);
    const acknowledged: string[] = [];
    for (let round = 0; round < kills; round++) {
      const child = startChild(CHILD, 'committing', home);
      const limit = 1 + rng.below(200);
      let lines = 0;
      child.process.stdout?.on('data', (chunk: string) => {
        lines += chunk.split('\n').length - 1;
        if (lines >= limit) child.kill();
      });
      const { signal, stdout } = await child.ended;
      expect(signal).toBe('SIGKILL');
      acknowledged.push(...stdout.split('\n').slice(0, -1));
    }

    const store = opened(home);
    const kept: string[] = [];
    for (const { id } of (await store.runs()).items) {
      const [first, ...events] = await store.events(id, 0, 1_000_000);
      expect(first?.event.type).toBe('run.created');
      kept.push(...events.map(({ event }) => ('payload' in event ? `${event.payload} ${event.name}` : event.type)));
      expect(await isChained(store, id)).toBe(true);
      expect(events.map(({ event }) => 'name' in event && event.name)).toEqual(
        events.map((_, index) => String(index + 1)),
      );
    }
    store.close();
    expect([...new Set(acknowledged).difference(new Set(kept))]).toEqual([]);
    expect(new Set(kept).size).toBe(kept.length);
    expect(acknowledged.length).toBeGreaterThanOrEqual(kills);
  });
});
