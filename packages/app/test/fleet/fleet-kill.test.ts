import path from 'node:path';
import { fact, foldFleet } from '@signalbox/fleet';
import type { ProjectId } from '@signalbox/model';
import { openArchive, openStore } from '@signalbox/store';
import { seededRng, startChild } from '@signalbox/testkit';
import { expect, it } from 'vitest';
import { childScript } from '../../../../test/child-script.ts';
import { sized } from '../../../../test/sized.ts';
import { factsFrom, readFleet } from '../../src/fleet/fleet-log.ts';
import { proveTrust } from '../../src/fleet/trust-proof.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const CHILD = childScript(import.meta.dirname, 'fleet-kill-child.ts');
const PROJECT = '00000000-0000-7000-8000-0000000000f2' as ProjectId;
const HOURS = { timeout: 8 * 3_600_000 };

it(
  '[A963] loses no acknowledged fact and applies none twice, wherever its process is killed, and comes to its end',
  HOURS,
  async () => {
    const rng = seededRng(963);
    const kills = sized(3, 20, 300);
    let killed = 0;
    while (killed < kills) {
      const file = path.join(temporaryFolder(), 'db.sqlite');
      const acknowledged = new Set<string>();
      for (let isOver = false; !isOver; ) {
        const child = startChild(CHILD, file, PROJECT);
        // After as many messages as chance says, or never.
        let left = killed < kills ? rng.below(120) + 1 : Number.POSITIVE_INFINITY;
        child.process.stdout?.on('data', (chunk: string) => {
          left -= chunk.split('\n').length - 1;
          if (left <= 0) child.kill();
        });
        const { signal, code, stdout } = await child.ended;
        const lines = stdout.split('\n').slice(0, -1);
        for (const line of lines) if (line.startsWith('event ')) acknowledged.add(line.slice('event '.length));
        isOver = signal === null;
        if (isOver) expect(code).toBe(0);
        else killed += 1;
        check(file, acknowledged);
      }
    }
  },
);

/** What the log says now, from several sides. */
function check(file: string, acknowledged: ReadonlySet<string>): void {
  const archive = openArchive({ path: file });
  if (!archive.ok) throw new Error(archive.error.message);
  expect([...archive.value.checkProjects()].flatMap(({ defects }) => defects)).toEqual([]);
  archive.value.close();
  const store = openStore({ path: file });
  if (!store.ok) throw new Error(store.error.message);
  const { state } = readFleet(store.value, PROJECT);
  expect(state).toEqual(foldFleet(factsFrom(store.value, PROJECT)));
  const records = [...store.value.projectFacts(PROJECT, 0)];
  const events = records.flatMap(({ body }) => body.things.filter(({ kind }) => kind === 'event').map(({ id }) => id));
  expect(new Set(events).size).toBe(events.length);
  expect([...acknowledged].filter(id => !events.includes(id))).toEqual([]);
  const answers = records
    .flatMap(({ body }) => body.things.filter(({ kind }) => kind === 'audit'))
    .flatMap(({ status, value }) => (status === 'answered' ? [(value as { decisionId: string }).decisionId] : []));
  expect(new Set(answers).size).toBe(answers.length);
  for (const { id } of Object.values(state.agents.agents)) {
    expect(proveTrust(records, id, ({ body }) => fact.parse(body.fact))).toMatchObject({ ok: true });
  }
  store.value.close();
}
