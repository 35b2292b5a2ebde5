import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RunId } from '@signalbox/model';
import { startChild } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { sized } from '../../../test/sized.ts';
import { isVerified, type Kill, linesOf, ownerLives, readerOf } from './support/owner-lives.ts';

const child = childScript(import.meta.dirname, 'support/ahead-child.ts');
const lives = ownerLives();
const STEPS = 80;

/** Steps, one after the other, that leave a line when they begin; every seventh has effects outside if `isOutside`. */
function planText(isOutside: boolean): string {
  return `
import { appendFileSync } from 'node:fs';
import { definePlan, Phase, Step, Task } from 'signalbox';
import * as z from 'zod';
export default definePlan({
  name: 'steps',
  input: z.object({ folder: z.string() }),
  state: z.object({ done: z.array(z.number()).default([]) }),
  render: ctx => (
    <Phase name="all">
      {Array.from({ length: ${STEPS} }, (_, n) => {
        const isOutside = ${isOutside} && n % 7 === 6;
        return (
          <Step key={String(n)}>
            <Task
              id={'n' + n}
              effects={isOutside ? 'external' : 'none'}
              run={() => appendFileSync(ctx.input.folder + (isOutside ? '/outside' : '/begun'), n + '\\n')}
              onFinished={() => ctx.state.update('done', done => [...done, n])}
            />
          </Step>
        );
      })}
    </Phase>
  ),
});
`;
}

/** A folder whose owner was killed: the run, and the nodes whose work its log says was started. */
async function killed(isOutside: boolean, start: (folder: string) => Promise<unknown>) {
  const folder = lives.newFolder();
  writeFileSync(path.join(folder, 'plan.tsx'), planText(isOutside));
  await start(folder);
  const reader = readerOf(folder);
  const [record] = (await reader.runs({ limit: 1 })).items;
  const run = record?.id as RunId;
  const started = (await reader.tasks(run, { limit: STEPS })).map(({ node }) => node);
  reader.close();
  return { folder, run, started };
}

/** The next owner takes the run up. Returns how it ended, and what it leaves. */
async function takenUp(folder: string, run: RunId) {
  const { stdout } = await lives.owner(folder, 'never', 'take-up').ended;
  const reader = readerOf(folder);
  const record = await reader.run(run);
  const tasks = await reader.tasks(run, { limit: STEPS });
  reader.close();
  return { end: stdout.split('\n')[1], record, tasks };
}

describe('a run that is ahead of its commits when its process is killed', () => {
  it('[A900] continues from its last commit, and ends as if nothing had happened', async () => {
    for (const at of sized([50], [40, 50, 60], [36, 41, 47, 52, 58, 63])) {
      const { folder, run, started } = await killed(false, async place => {
        const { ended } = startChild(child, place, at);
        expect(await ended).toMatchObject({ signal: 'SIGKILL' });
      });
      const begun = linesOf(folder, 'begun').length;
      // Work began that no commit knows of.
      expect(begun - started.length).toBeGreaterThanOrEqual(8);
      const { end, record, tasks } = await takenUp(folder, run);
      expect(end).toBe('["completed"]');
      expect(record).toMatchObject({ output: { done: Array.from({ length: STEPS }, (_, n) => n) } });
      expect(tasks.map(({ status }) => status)).toEqual(Array.from({ length: STEPS }, () => 'done'));
      // Every step began, and only those that were not committed began again.
      const lines = linesOf(folder, 'begun').map(Number);
      expect([...new Set(lines)]).toEqual(Array.from({ length: STEPS }, (_, n) => n));
      expect(lines.slice(begun)[0]).toBe(started.length - 1);
      expect(await isVerified(folder, run)).toBe(true);
    }
  });

  it('[A901] has committed the start of all work with effects outside that began', async () => {
    for (const at of sized([45], [40, 45, 50, 55], [38, 41, 44, 47, 50, 53, 56, 59])) {
      for (const when of ['before', 'after'] as const) {
        const kill: Kill = `${when}:${at}`;
        const { folder, run, started } = await killed(
          true,
          place => lives.owner(place, kill, 'start', 'plan.tsx', 1).ended,
        );
        const outside = linesOf(folder, 'outside').map(n => `n${n}`);
        expect(outside.length).toBeGreaterThan(0);
        expect(started).toEqual(expect.arrayContaining(outside));
        const { end } = await takenUp(folder, run);
        // Work that was cut off is put to a person; nothing with effects outside begins a second time.
        expect(['["completed"]', '["waiting"]']).toContain(end);
        const lines = linesOf(folder, 'outside');
        expect(new Set(lines).size).toBe(lines.length);
      }
    }
  });
});
