import { AGENT_ROWS } from '@signalbox/adapters/acp';
import { seededRng } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { agentsCache, cachedAgent, isLeftOut } from '../../../scripts/agents-cache.ts';
import { sampled, sized } from '../../../test/sized.ts';
import { hasLayers } from '../../adapters/test/real-life.ts';
import { DONE, openLives } from './real-lives.ts';

const tried = AGENT_ROWS.filter(({ isTried }) => isTried);
const there = new Set<string>();
for (const row of tried) if (hasLayers && (await cachedAgent(row, agentsCache())) !== undefined) there.add(row.id);

// Every agent does the task in every run (real-task); two of them are killed here.
describe.each(sampled(tried, 2))('$title', ({ id }) => {
  const test = it.skipIf(isLeftOut(there.has(id), hasLayers));
  const both: readonly boolean[] = [false, true];
  // Both together in every run; the process alone where there is time.
  test.each(sized(both.slice(1), both, both))(
    '[B115] whose question is open while our process is killed, and itself: %s, is answered afterwards, and acts once',
    async withAgent => {
      const { life, outcome } = await openLives(id);
      expect(await life('waits', line => line === 'decision.asked', withAgent)).toBe(true);
      expect(await life('answers', () => false)).toBe(false);
      expect(await outcome()).toEqual(DONE);
    },
  );
});

const KILLED = ['goose', 'codex', 'gemini'];
/** Fewer lines than a process says that does the whole task. */
const LINES = 45;
/** How often a process is killed. The echo agent is killed like this in every run (echo-kills). */
const kills = sized(0, 4, 34);
const FIRST = Number(process.env.SIGNALBOX_FIRST_SEED ?? 1);

describe.each(kills === 0 ? [] : KILLED)('%s', id => {
  it.skipIf(isLeftOut(there.has(id), hasLayers))(
    '[B116, B157] is given its task again if our process is killed before it began to work on it',
    async () => {
      const { life, outcome } = await openLives(id);
      let calls = 0;
      // Its edit is dropped, and its next session is killed before it has said anything.
      expect(await life('answers', line => line === 'call.ended' && ++calls === 2)).toBe(true);
      expect(await life('answers', line => line === 'task.progressed')).toBe(true);
      expect(await life('answers', () => false)).toBe(false);
      expect(await outcome()).toEqual(DONE);
    },
  );

  it.skipIf(isLeftOut(there.has(id), hasLayers))(
    '[B116] does the task once, whenever our process is killed',
    async () => {
      const rng = seededRng(FIRST + KILLED.indexOf(id));
      for (let killed = 0; killed < kills; ) {
        const { life, outcome } = await openLives(id);
        // A task that is running at four deaths in a row waits for a person.
        for (let deaths = 0, died = true; died; deaths++) {
          let left = killed < kills && deaths < 3 ? 1 + rng.below(LINES) : Number.POSITIVE_INFINITY;
          died = await life('answers', () => --left === 0);
          if (died) killed++;
        }
        expect({ killed, ...(await outcome()) }).toEqual({ killed, ...DONE });
      }
    },
  );
});
