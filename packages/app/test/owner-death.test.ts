import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Bug, type RunId } from '@signalbox/model';
import type { Decision } from '@signalbox/runs';
import { openReader } from '@signalbox/store';
import { startChild } from '@signalbox/testkit';
import { afterAll, describe, expect, it } from 'vitest';
import { thisMachine } from '../src/machine.ts';
import { verifyRunReplay } from '../src/replay/verify-replay.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

const home = temporaryFolder();
const child = path.join(import.meta.dirname, 'support', 'owner-child.ts');
const living = new Set<ReturnType<typeof startChild>>();
afterAll(() => {
  for (const { kill } of living) kill();
});

let folders = 0;
/** A folder with a plan whose one task goes on until the file `go` is there, and leaves a line whenever it begins. */
function newFolder(): string {
  folders += 1;
  const folder = path.join(home, String(folders));
  mkdirSync(folder);
  writeFileSync(
    path.join(folder, 'long.tsx'),
    `
import { appendFileSync, existsSync } from 'node:fs';
import { definePlan, Task } from 'signalbox';
import * as z from 'zod';
export default definePlan({
  name: 'long',
  input: z.object({ folder: z.string() }),
  render: ctx => (
    <Task id="long" run={async ({ attempt }) => {
      appendFileSync(ctx.input.folder + '/begun', attempt + '\\n');
      while (!existsSync(ctx.input.folder + '/go')) await new Promise(resolve => setTimeout(resolve, 10));
      return 'done';
    }} />
  ),
});
`,
  );
  return folder;
}

function newOwner(folder: string, ...how: readonly (string | number)[]) {
  const running = startChild(child, folder, ...how);
  living.add(running);
  void running.ended.then(() => living.delete(running));
  return running;
}

const begun = (folder: string): readonly string[] =>
  existsSync(path.join(folder, 'begun')) ? readFileSync(path.join(folder, 'begun'), 'utf8').trim().split('\n') : [];

/** Kills an owner once so many pieces of work have begun in all. */
async function killAfter(folder: string, owner: ReturnType<typeof newOwner>, count: number): Promise<void> {
  await until(() => (begun(folder).length >= count ? true : undefined));
  owner.kill();
  await owner.ended;
}

function readerOf(folder: string) {
  const reader = openReader({ path: path.join(folder, 'data', 'db.sqlite') });
  if (!reader.ok) throw new Bug(reader.error.message);
  return reader.value;
}

const isVerified = async (folder: string, run: RunId) => {
  const verdict = await verifyRunReplay(path.join(folder, 'data'), run, { machine: thisMachine() });
  return verdict.ok && verdict.value.ok;
};

describe('an owner that is killed', () => {
  it('[A175] with 125 runs under way leaves none of them behind', async () => {
    const folder = newFolder();
    const first = newOwner(folder, 'start', 'long.tsx', 125);
    const started = JSON.parse(await first.firstLine) as RunId[];
    await killAfter(folder, first, 125);
    const second = newOwner(folder, 'take-up');
    const takenUp = JSON.parse(await second.firstLine) as RunId[];
    expect(takenUp.toSorted()).toEqual(started.toSorted());
    writeFileSync(path.join(folder, 'go'), '');
    const { stdout } = await second.ended;
    expect(JSON.parse(stdout.split('\n')[1] ?? '')).toEqual(started.map(() => 'completed'));
    const reader = readerOf(folder);
    for (const run of started) expect(await reader.run(run)).toMatchObject({ status: 'completed' });
    reader.close();
  });

  it('[A177] five times with the same task running costs no retry; from the fourth on a person decides', async () => {
    const folder = newFolder();
    await killAfter(folder, newOwner(folder, 'start', 'long.tsx', 1), 1);
    for (let deaths = 1; deaths < 4; deaths++) {
      await killAfter(folder, newOwner(folder, 'take-up'), deaths + 1);
    }
    // The fourth owner died: the fifth does not begin the task, and the run waits.
    const fifth = newOwner(folder, 'take-up');
    const [run = '' as RunId] = JSON.parse(await fifth.firstLine) as RunId[];
    expect((await fifth.ended).stdout.split('\n')[1]).toBe('["waiting"]');
    expect(begun(folder)).toEqual(['1', '1', '1', '1']);
    const asked = await openDecision(folder, run);
    expect(asked).toMatchObject({ node: 'long', kind: 'choice', proposal: { context: { node: 'long' } } });
    const { prompt, context } = asked.proposal as { prompt: string; context: { deaths: object[] } };
    expect(prompt).toContain('Node long was running each of the last 4 times that the process died');
    const death = {
      owner: expect.any(String),
      startedAt: expect.any(String),
      seenAt: expect.any(String),
      foundAt: expect.any(String),
    };
    expect(context.deaths).toEqual([death, death, death, death]);

    // Told to try again it begins at once; the fifth death is a question of its own.
    const sixth = newOwner(folder, 'answer', asked.id, 'try-again');
    await killAfter(folder, sixth, 5);
    const seventh = newOwner(folder, 'take-up');
    await seventh.firstLine;
    expect((await seventh.ended).stdout.split('\n')[1]).toBe('["waiting"]');
    const again = await openDecision(folder, run);
    expect(again.id).not.toBe(asked.id);

    writeFileSync(path.join(folder, 'go'), '');
    const last = newOwner(folder, 'answer', again.id, 'try-again');
    expect((await last.ended).stdout.split('\n')[1]).toBe('["completed"]');
    const reader = readerOf(folder);
    const tasks = await reader.tasks(run);
    expect(tasks.map(({ status, retryCount }) => [status, retryCount])).toEqual([['done', 0]]);
    reader.close();
    expect(await isVerified(folder, run)).toBe(true);
  });

  it('[A177] and a person who gives the task up fails its node', async () => {
    const folder = newFolder();
    await killAfter(folder, newOwner(folder, 'start', 'long.tsx', 1), 1);
    for (let deaths = 1; deaths < 4; deaths++) await killAfter(folder, newOwner(folder, 'take-up'), deaths + 1);
    const fifth = newOwner(folder, 'take-up');
    const [run = '' as RunId] = JSON.parse(await fifth.firstLine) as RunId[];
    await fifth.ended;
    const last = newOwner(folder, 'answer', (await openDecision(folder, run)).id, 'give-up');
    expect((await last.ended).stdout.split('\n')[1]).toBe('["failed"]');
    const reader = readerOf(folder);
    expect(await reader.run(run)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('Node long failed: owner-deaths: The owner died 4 times in a row') },
    });
    reader.close();
  });
});

async function openDecision(folder: string, run: RunId): Promise<Decision> {
  const reader = readerOf(folder);
  const [open] = await reader.decisions({ run, status: ['open'] });
  reader.close();
  if (open === undefined) throw new Bug('nothing was asked');
  return open.decision;
}
