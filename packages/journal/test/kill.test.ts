import { cpSync } from 'node:fs';
import { hostDisk, sqliteLocks } from '@signalbox/journal';
import { factDraft, openFacts, recordingDisk, seededRng, snapshotText, startChild } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { sized } from '../../../test/sized.ts';
import { appendPlan, truthsOf, verify, violation } from './support/plan.ts';
import { CHILD, temporaryHome } from './support/temporary-home.ts';

const bases: Record<string, () => Promise<string>> = {
  'the first append of a session': async () => temporaryHome(),
  'a later append': async () => {
    const home = temporaryHome();
    const { journal, snapshots } = openFacts({ disk: hostDisk, locks: sqliteLocks, home });
    snapshots.putAll([snapshotText(1)]);
    await journal.withLock(witness => journal.append(witness, { events: [factDraft(1, { withSnapshot: true })] }));
    return home;
  },
};

describe.each(Object.entries(bases))('a process killed during %s', (_name, base) => {
  it('[J9, J13] leaves the truth before or the truth after, and the lock free, before and after every operation', async () => {
    const home = await base();
    const copyOfBase = (): string => {
      const copy = temporaryHome();
      cpSync(home, copy, { recursive: true });
      return copy;
    };
    const truths = await truthsOf(hostDisk, { home: copyOfBase(), locks: sqliteLocks });
    const recorded = recordingDisk(hostDisk);
    await appendPlan(recorded.disk, { home: copyOfBase(), locks: sqliteLocks });

    const wrong: string[] = [];
    const killed = async (operation: number, when: 'before' | 'after'): Promise<void> => {
      const copy = copyOfBase();
      const { signal } = await startChild(CHILD, 'dying', copy, operation, when).ended;
      const found = await violation(hostDisk, truths, false, { home: copy, locks: sqliteLocks });
      const name = recorded.operations[operation];
      if (signal !== 'SIGKILL' || found !== undefined) wrong.push(`${when} ${name}: ${signal} ${found}`);
    };
    const sides: readonly ('before' | 'after')[] = ['before', 'after'];
    for (const operation of recorded.operations.keys()) {
      // After an operation is before the next one: an ordinary run tries one of the two, at every third operation.
      if (operation % sized(3, 1, 1) > 0) continue;
      const tried = sized(sides.slice(1), sides, sides);
      await Promise.all(tried.map(when => killed(operation, when)));
    }
    expect(wrong).toEqual([]);
    expect(recorded.operations.length).toBeGreaterThanOrEqual(15);
  });
});

describe('a loop of appends killed at random', () => {
  const kills = sized(3, 8, 1_000);

  it(`[J7, J8] loses no acknowledged event and doubles none in ${kills} kills`, async () => {
    const home = temporaryHome();
    const rng = seededRng(20_260_101);
    const acknowledged: string[] = [];
    for (let round = 0; round < kills; round++) {
      const child = startChild(CHILD, 'counting', home);
      const limit = 1 + rng.below(40);
      let lines = 0;
      child.process.stdout?.on('data', (chunk: string) => {
        lines += chunk.split('\n').length - 1;
        if (lines >= limit) child.kill();
      });
      const { stdout } = await child.ended;
      acknowledged.push(...stdout.split('\n').slice(0, -1));
    }
    const read = openFacts({ disk: hostDisk, locks: sqliteLocks, home }).journal.read();
    const texts = read.ok ? read.value.events().map(event => event.data.text) : [];
    expect(texts).toEqual(texts.map((_, index) => `fact ${index}`));
    expect([...new Set(acknowledged).difference(new Set(texts))]).toEqual([]);
    expect(acknowledged.length).toBeGreaterThanOrEqual(kills);
    expect(verify(hostDisk, home)?.ok).toBe(true);
  });
});
