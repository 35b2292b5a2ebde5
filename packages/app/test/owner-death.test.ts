import { chmodSync, cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Bug, type RunId } from '@signalbox/model';
import type { Decision } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { sized } from '../../../test/sized.ts';
import { isVerified, linesOf, openDecision, ownerLives, readerOf } from './support/owner-lives.ts';

const lives = ownerLives();

/** A run whose owner died four times: the fifth did not begin its task, and it waits. It is made once. */
const waitingAfterDeaths = lazily(async () => {
  const folder = lives.newFolder();
  await lives.killAfter(folder, lives.owner(folder, 'never', 'start', 'long.tsx', 1), 1);
  for (let deaths = 1; deaths < 4; deaths++) {
    await lives.killAfter(folder, lives.owner(folder, 'never', 'take-up'), deaths + 1);
  }
  const fifth = lives.owner(folder, 'never', 'take-up');
  const [run = '' as RunId] = JSON.parse(await fifth.firstLine) as RunId[];
  const end = (await fifth.ended).stdout.split('\n')[1];
  // The task writes to the folder that it was begun in, so only tests that don't begin it again can use the copy.
  const copy = lives.newFolder();
  cpSync(folder, copy, { recursive: true });
  chmodSync(path.join(copy, 'data'), 0o700);
  return { folder, copy, run, end };
});

describe('an owner that is killed', () => {
  const many = sized(12, 125, 125);
  it(`[A175] with ${many} runs under way leaves none of them behind`, async () => {
    const folder = lives.newFolder();
    const first = lives.owner(folder, 'never', 'start', 'long.tsx', many);
    const started = JSON.parse(await first.firstLine) as RunId[];
    await lives.killAfter(folder, first, many);
    const second = lives.owner(folder, 'never', 'take-up');
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
    const { folder, run, end } = await waitingAfterDeaths();
    expect(end).toBe('["waiting"]');
    expect(linesOf(folder, 'begun')).toEqual(['1', '1', '1', '1']);
    const question = await asked(folder, run);
    expect(question).toMatchObject({ node: 'long', kind: 'choice', proposal: { context: { node: 'long' } } });
    const { prompt, context } = question.proposal as { prompt: string; context: { deaths: object[] } };
    expect(prompt).toContain('Node long was running each of the last 4 times that the process died');
    const death = {
      owner: expect.any(String),
      startedAt: expect.any(String),
      seenAt: expect.any(String),
      foundAt: expect.any(String),
    };
    expect(context.deaths).toEqual([death, death, death, death]);

    // Told to try again it begins at once; the fifth death is a question of its own.
    const sixth = lives.owner(folder, 'never', 'answer', question.id, 'try-again');
    await lives.killAfter(folder, sixth, 5);
    const seventh = lives.owner(folder, 'never', 'take-up');
    await seventh.firstLine;
    expect((await seventh.ended).stdout.split('\n')[1]).toBe('["waiting"]');
    const again = await asked(folder, run);
    expect(again.id).not.toBe(question.id);

    writeFileSync(path.join(folder, 'go'), '');
    const last = lives.owner(folder, 'never', 'answer', again.id, 'try-again');
    expect((await last.ended).stdout.split('\n')[1]).toBe('["completed"]');
    const reader = readerOf(folder);
    const tasks = await reader.tasks(run);
    expect(tasks.map(({ status, retryCount }) => [status, retryCount])).toEqual([['done', 0]]);
    reader.close();
    expect(await isVerified(folder, run)).toBe(true);
  });

  it('[A1010] right after a person answered leaves a run that the next one takes up', async () => {
    const { copy, run } = await waitingAfterDeaths();
    const folder = lives.newFolder();
    cpSync(copy, folder, { recursive: true });
    chmodSync(path.join(folder, 'data'), 0o700);
    const { id } = await asked(folder, run);
    expect(JSON.parse(await lives.owner(folder, 'never', 'take-up').firstLine)).toEqual([]);
    expect((await lives.owner(folder, 'after:1', 'answer', id, 'give-up').ended).signal).toBe('SIGKILL');
    const next = lives.owner(folder, 'never', 'take-up');
    expect(JSON.parse(await next.firstLine)).toEqual([run]);
    expect((await next.ended).stdout.split('\n')[1]).toBe('["failed"]');
  });

  it('[A177] and a person who gives the task up fails its node', async () => {
    const { copy: folder, run } = await waitingAfterDeaths();
    const last = lives.owner(folder, 'never', 'answer', (await asked(folder, run)).id, 'give-up');
    expect((await last.ended).stdout.split('\n')[1]).toBe('["failed"]');
    const reader = readerOf(folder);
    expect(await reader.run(run)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('Node long failed: owner-deaths: The owner died 4 times in a row') },
    });
    reader.close();
  });
});

function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

async function asked(folder: string, run: RunId): Promise<Decision> {
  const decision = await openDecision(folder, run);
  if (decision === undefined) throw new Bug('nothing was asked');
  return decision;
}
