import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Bug, type RunId } from '@signalbox/model';
import type { Decision } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { sized } from '../../../test/sized.ts';
import { isVerified, type Kill, linesOf, openDecision, ownerLives, readerOf } from './support/owner-lives.ts';

const lives = ownerLives();

/** A run whose owner was killed while its work, which has effects outside, went on. */
async function cutOff(): Promise<{ readonly folder: string; readonly run: RunId }> {
  const folder = lives.newFolder();
  const first = lives.owner(folder, 'never', 'start', 'outside.tsx', 1);
  const [run = '' as RunId] = JSON.parse(await first.firstLine) as RunId[];
  await lives.killAfter(folder, first, 1);
  return { folder, run };
}

async function takenUp(folder: string, kill: Kill = 'never'): Promise<string | undefined> {
  return (await lives.owner(folder, kill, 'take-up').ended).stdout.split('\n')[1];
}

async function asked(folder: string, run: RunId): Promise<Decision> {
  const decision = await openDecision(folder, run);
  if (decision === undefined) throw new Bug('nothing was asked');
  return decision;
}

async function recordOf(folder: string, run: RunId) {
  const reader = readerOf(folder);
  const record = await reader.run(run);
  reader.close();
  return record;
}

describe('work with effects outside that was cut off', () => {
  it('[A315] is a question to a person, with what is known; that it happened goes on with its result', async () => {
    const { folder, run } = await cutOff();
    expect(await takenUp(folder)).toBe('["waiting"]');
    const question = await asked(folder, run);
    expect(question).toMatchObject({
      node: 'long',
      kind: 'choice',
      proposal: {
        prompt: expect.stringContaining('nobody knows whether they happened'),
        options: [{ id: 'happened' }, { id: 'again' }, { id: 'give-up' }],
        context: {
          node: 'long',
          attempt: 1,
          input: 'v7',
          startedAt: expect.any(String),
          foundAt: expect.any(String),
        },
      },
    });
    const last = lives.owner(folder, 'never', 'answer', question.id, 'happened', '{"release":7}');
    expect((await last.ended).stdout.split('\n')[1]).toBe('["completed"]');
    expect(linesOf(folder, 'begun')).toHaveLength(1);
    expect(await recordOf(folder, run)).toMatchObject({ output: { result: { release: 7 } } });
    expect(await isVerified(folder, run)).toBe(true);
  });

  it('[A315] is done again when a person says so, and asked about again when it is cut off again; given up, it fails', async () => {
    const { folder, run } = await cutOff();
    await takenUp(folder);
    const first = await asked(folder, run);
    await lives.killAfter(folder, lives.owner(folder, 'never', 'answer', first.id, 'again'), 2);
    expect(await takenUp(folder)).toBe('["waiting"]');
    expect(linesOf(folder, 'begun')).toHaveLength(2);
    const second = await asked(folder, run);
    expect(second.id).not.toBe(first.id);
    writeFileSync(path.join(folder, 'go'), '');
    const last = lives.owner(folder, 'never', 'answer', second.id, 'give-up');
    expect((await last.ended).stdout.split('\n')[1]).toBe('["failed"]');
    expect(linesOf(folder, 'begun')).toHaveLength(2);
    expect(await recordOf(folder, run)).toMatchObject({ error: { message: expect.stringContaining('gave it up') } });
    expect(await isVerified(folder, run)).toBe(true);
  });

  it('[A316] is asked about once, whichever commit its next owner dies at, and is not done before the answer', async () => {
    const everyPoint = async (): Promise<readonly Kill[]> => {
      const whole = await cutOff();
      const before = linesOf(whole.folder, 'commits').length;
      await takenUp(whole.folder);
      const count = linesOf(whole.folder, 'commits').length - before;
      expect(count).toBeGreaterThan(1);
      return Array.from({ length: count }, (_, at) => [`before:${at + 1}`, `after:${at + 1}`] as const).flat();
    };
    const first = async (): Promise<readonly Kill[]> => ['after:1'];
    for (const kill of await sized(first, everyPoint, everyPoint)()) {
      const { folder, run } = await cutOff();
      await takenUp(folder, kill);
      // A run that waits is not taken up by itself: it is when it is resumed or answered.
      if ((await recordOf(folder, run))?.status !== 'waiting') expect(await takenUp(folder)).toBe('["waiting"]');
      const reader = readerOf(folder);
      const all = await reader.decisions({ run });
      reader.close();
      expect({ kill, asked: all.map(({ decision }) => decision.status) }).toEqual({ kill, asked: ['open'] });
      writeFileSync(path.join(folder, 'go'), '');
      const { id } = await asked(folder, run);
      const last = lives.owner(folder, 'never', 'answer', id, 'again');
      expect({ kill, end: (await last.ended).stdout.split('\n')[1] }).toEqual({ kill, end: '["completed"]' });
      expect(linesOf(folder, 'begun')).toHaveLength(2);
      expect(await isVerified(folder, run)).toBe(true);
    }
  });
});
