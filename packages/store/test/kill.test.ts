import { openArchive } from '@signalbox/store';
import { seededRng, startChild } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { sized } from '../../../test/sized.ts';
import { isChained } from '../../runs/test/log-chain.ts';
import { databaseOf } from './support/database-file.ts';
import { opened, temporaryHome } from './support/stores.ts';

const HOURS = { timeout: 8 * 3_600_000 };
const CHILD = childScript(import.meta.dirname, 'support/child.ts');

/** The findings of a complete check next to a writer. */
function checkedAll(home: string): { readonly runs: number; readonly defects: readonly unknown[] } {
  const archive = openArchive({ path: databaseOf(home) });
  if (!archive.ok) throw new Error(archive.error.message);
  const checks = [...archive.value.checkAll()];
  const defects = [...checks.flatMap(check => check.defects), ...archive.value.strays()];
  archive.value.close();
  return { runs: checks.length, defects };
}

describe('runs whose process is killed', () => {
  it(
    '[D341] are not said to be changed, wherever they were, and another process never sees half a commit',
    HOURS,
    async () => {
      const home = temporaryHome();
      opened(home).close();
      const rng = seededRng(341);
      const enough = sized(10, 20, 200);
      let runs = 0;
      let looks = 0;
      for (let life = 0; runs < enough; life++) {
        const child = startChild(CHILD, 'varied', home, String(life));
        let isOver = false;
        child.ended.finally(() => {
          isOver = true;
        });
        const before = runs;
        for (let turn = rng.below(12); !isOver && (turn > 0 || runs === before); turn--) {
          const found = checkedAll(home);
          expect(found.defects).toEqual([]);
          runs = found.runs;
          looks += 1;
          await new Promise(resolve => setTimeout(resolve, rng.below(40)));
        }
        child.kill();
        expect((await child.ended).signal).toBe('SIGKILL');
        const found = checkedAll(home);
        expect(found.defects).toEqual([]);
        runs = found.runs;
      }
      expect(looks).toBeGreaterThan(sized(2, 5, 5));
    },
  );
});

describe('a process that is killed in a loop of commits', () => {
  const kills = sized(4, 8, 300);

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

  it(`[D378] loses no acknowledged fact of a project and applies none twice in ${kills} kills`, HOURS, async () => {
    const home = temporaryHome();
    const rng = seededRng(378);
    const acknowledged: number[] = [];
    for (let round = 0; round < kills; round++) {
      const child = startChild(CHILD, 'projecting', home);
      const limit = 1 + rng.below(150);
      let lines = 0;
      child.process.stdout?.on('data', (chunk: string) => {
        lines += chunk.split('\n').length - 1;
        if (lines >= limit) child.kill();
      });
      const { signal, stdout } = await child.ended;
      expect(signal).toBe('SIGKILL');
      const said = stdout.split('\n').slice(0, -1);
      acknowledged.push(...said.flatMap(line => (line.startsWith('project ') ? Number(line.slice(8)) : [])));
    }
    const archive = openArchive({ path: databaseOf(home) });
    if (!archive.ok) throw new Error(archive.error.message);
    expect([...archive.value.checkProjects()].flatMap(check => check.defects)).toEqual([]);
    const [row] = archive.value.projects();
    const facts = row === undefined ? [] : [...archive.value.projectFacts(row.id, 0)].map(({ body }) => body.fact);
    archive.value.close();
    expect(facts).toEqual(facts.map((_, n) => n));
    expect(acknowledged.toSorted((a, b) => a - b)).toEqual([...new Set(acknowledged)].toSorted((a, b) => a - b));
    expect(Math.max(...acknowledged)).toBeLessThan(facts.length);
    expect(acknowledged.length).toBeGreaterThanOrEqual(kills);
  });
});
