import { seededRng } from '@signalbox/testkit';
import { expect, it } from 'vitest';
import { sized } from '../../../test/sized.ts';
import { hasLayers } from '../../adapters/test/real-life.ts';
import { ECHO } from './real-host.ts';
import { DONE, openLives } from './real-lives.ts';

/** Fewer lines than a process says that does the whole task. */
const LINES = 36;

it.skipIf(!hasLayers)('[B155] an agent does its task once, whenever our process is killed', async () => {
  const rng = seededRng(7);
  const kills = sized(3, 30, 200);
  for (let killed = 0; killed < kills; ) {
    const { life, outcome } = await openLives(ECHO);
    // A task that is running at four deaths in a row waits for a person.
    for (let deaths = 0, died = true; died; deaths++) {
      let left = killed < kills && deaths < 3 ? 1 + rng.below(LINES) : Number.POSITIVE_INFINITY;
      died = await life('answers', () => --left === 0);
      if (died) killed++;
    }
    expect({ killed, ...(await outcome()) }).toEqual({ killed, ...DONE });
  }
});
