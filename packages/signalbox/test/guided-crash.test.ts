import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type SeededRng, seededRng } from '@signalbox/testkit';
import { expect, it } from 'vitest';
import { sized } from '../../../test/sized.ts';
import { type Death, journalOf, longWorkflow, walkThroughDeaths } from './guided-crash-walk.ts';
import { temporaryFolder } from './program.ts';

const SOAK = process.env.SIGNALBOX_SOAK === '1';
const DEATHS = sized(2, 8, 200);
const SEED = Number(process.env.SIGNALBOX_SEED ?? (SOAK ? Date.now() % 1_000_000 : 20_261_116));
const folder = temporaryFolder();

function newPlace(name: string): string {
  const place = path.join(folder, name);
  mkdirSync(path.join(place, '.signalbox/workflows'), { recursive: true });
  writeFileSync(path.join(place, '.signalbox/workflows/long.json'), JSON.stringify(longWorkflow));
  return place;
}

it('a walk whose server is killed again and again ends with the journal and the answers of one that nobody disturbed', async () => {
  const whole = newPlace('whole');
  const { answers, turns } = await walkThroughDeaths({ cwd: whole });
  // The start, thirty steps, and the three of the loop twice more.
  expect(answers.length).toBe(1 + 30 + 6);

  const deaths = plannedDeaths(seededRng(SEED), answers.length);
  const hurt = newPlace('hurt');
  const disturbed = await walkThroughDeaths({ cwd: hurt, deaths, usual: turns });
  const { cutOff, cutOffAfterTheFact } = disturbed;
  console.log(JSON.stringify({ seed: SEED, deaths: DEATHS, cutOff, cutOffAfterTheFact }));
  expect(disturbed.answers, `seed ${SEED}`).toEqual(answers);
  expect([...journalOf(path.join(hurt, 'data'))], `seed ${SEED}`).toEqual([...journalOf(path.join(whole, 'data'))]);
});

/** Which deaths come at which call. An advance is seen as up to three changes: its snapshot, its segment and the manifest. */
function plannedDeaths(rng: SeededRng, calls: number): ReadonlyMap<number, readonly Death[]> {
  const planned = new Map<number, Death[]>();
  for (let count = 0; count < DEATHS; count++) {
    const during = rng.pick(['start', 'call', 'call', 'write', 'write', 'write', 'rest'] as const);
    const death: Death =
      during === 'write' ? { during, changes: 1 + rng.below(3) } : { during, share: rng.below(1_000) / 1_000 };
    const call = rng.below(calls);
    planned.set(call, [...(planned.get(call) ?? []), death]);
  }
  return planned;
}
