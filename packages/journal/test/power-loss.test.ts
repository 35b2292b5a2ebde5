import type { Disk } from '@signalbox/journal';
import {
  factDraft,
  type LossyDisk,
  lossyDisk,
  memoryLocks,
  openFacts,
  recordingDisk,
  snapshotText,
} from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { sampled, sized } from '../../../test/sized.ts';
import {
  appendPlan,
  appendPlanOnStored,
  type Outcome,
  packedInMemory,
  readPlan,
  storeThenAppendPlan,
  type Truths,
  truthsOf,
  violation,
} from './support/plan.ts';
import { cutsOf, HOME, killedAt, labelOf, runUntil, SESSION_DIRECTORY } from './support/power-loss.ts';

/** All bytes of the last write at full size; its ends and some of its middle otherwise. */
const tearsOf = (length: number): readonly number[] => {
  const all = Array.from({ length: Math.max(length - 1, 0) }, (_, index) => index + 1);
  const some = all.filter(at => at < 3 || at > length - 3 || at % 61 === 0);
  return sized(some, some, all);
};

interface Scenario {
  readonly base: () => Promise<LossyDisk>;
  /** The work during which the power is cut. */
  readonly work: (disk: Disk) => Promise<Outcome>;
  /** Runs after another process was killed at each point of appending the plan. */
  readonly afterKill?: true;
  /** Segments are packed. */
  readonly isPacked?: true;
}

const scenarios: Record<string, Scenario> = {
  'the first append of a session': { base: emptyHome, work: appendPlan },
  'the first append of a session whose snapshots were stored before': { base: emptyHome, work: storeThenAppendPlan },
  'a later append': { base: () => withEvents(true), work: appendPlan },
  'the first snapshots of a session that has events': { base: () => withEvents(false), work: appendPlan },
  'an append over a tail that is longer than it': { base: withLongTail, work: appendPlan },
  '[J60] an append that packs its segment, to a journal with plain ones': {
    base: () => withEvents(true),
    work: disk => appendPlan(disk, packedInMemory()),
    isPacked: true,
  },
  'a process that goes on where a killed one stopped': { base: emptyHome, work: appendPlan, afterKill: true },
  'a process that refers to what a killed one stored': {
    base: () => withEvents(false),
    work: appendPlanOnStored,
    afterKill: true,
  },
  'a reader that relies on what a killed writer left': {
    base: () => withEvents(true),
    work: readPlan,
    afterKill: true,
  },
};

describe.each(Object.entries(scenarios))('power loss during %s', (_name, scenario) => {
  it('[J8, J9] leaves the truth before or the truth after, at every operation, for every subset of what was not synced', async () => {
    const { cuts, found } = await search(scenario);
    expect(found).toBeUndefined();
    expect(cuts).toBeGreaterThan(sized(25, 100, 100));
  });
});

describe('the power-loss suite', () => {
  it('[J8] finds a violation when any one sync is left out', async () => {
    const labels = await syncLabels();
    expect(labels).toEqual([
      'sync <session>/events/.segment.tmp',
      'sync <session>/manifest.jsonl',
      'sync home/snapshots/<snapshot>',
      'syncDirectory <session>',
      'syncDirectory <session>/events',
      'syncDirectory home',
      'syncDirectory home/sessions',
      'syncDirectory home/snapshots',
      'syncFile <session>/manifest.jsonl',
    ]);
    const missed: string[] = [];
    for (const label of sampled(labels, 3)) {
      let found: string | undefined;
      for (const scenario of Object.values(scenarios))
        found ??= (await search(scenario, other => other === label)).found;
      if (found === undefined) missed.push(label);
    }
    expect(missed).toEqual([]);
  });
});

async function syncLabels(): Promise<readonly string[]> {
  const labels = new Set<string>();
  for (const base of [emptyHome, withKilledWriter]) {
    const recorded = recordingDisk(await base());
    await appendPlan(recorded.disk);
    for (const operation of recorded.operations) {
      const [name = '', path = ''] = operation.split(' ');
      if (name.startsWith('sync')) labels.add(labelOf(name, path));
    }
  }
  return [...labels].sort();
}

type Search = { readonly cuts: number; readonly found?: string };

/** Cuts the power at every operation of a scenario, in every way, until something is wrong. */
async function search(scenario: Scenario, ignoredSync?: (label: string) => boolean): Promise<Search> {
  const base = await scenario.base();
  const truths = await truthsOf(base.copy());
  if (!scenario.afterKill) return searchFrom(base, truths, 0, scenario.work, ignoredSync, scenario.isPacked);
  // A sync that is missing may show at one point only; that none is missing shows at any of them.
  const stride = ignoredSync === undefined ? sized(4, 1, 1) : 1;
  let cuts = 0;
  for (let killPoint = 0; ; killPoint += stride) {
    let first: Outcome = 'stopped';
    const work = async (disk: Disk): Promise<Outcome> => {
      first = await killedAt(disk, killPoint, appendPlan);
      return scenario.work(disk);
    };
    const searched = await searchFrom(base, truths, killPoint, work, ignoredSync);
    cuts += searched.cuts;
    if (searched.found !== undefined) return { cuts, found: `killed before operation ${killPoint}, ${searched.found}` };
    if (first !== 'stopped') return { cuts };
  }
}

async function searchFrom(
  base: LossyDisk,
  truths: Truths,
  from: number,
  work: (disk: Disk) => Promise<Outcome>,
  ignoredSync?: (label: string) => boolean,
  isPacked = false,
): Promise<Search> {
  let cuts = 0;
  for (let at = from; ; at++) {
    const { disk, outcome } = await runUntil(base, at, work, ignoredSync);
    for (const cut of cutsOf(disk, tearsOf)) {
      cuts += 1;
      const wrong = await violation(
        disk.afterPowerCut(cut.survivors, cut.tornBytes),
        truths,
        outcome === 'acknowledged',
        isPacked ? packedInMemory() : undefined,
      );
      if (wrong === undefined) continue;
      const kept = [...cut.survivors].map(position => JSON.stringify(disk.pending()[position])).join(' ');
      return { cuts, found: `power cut before operation ${at}, torn at ${cut.tornBytes}, kept [${kept}]: ${wrong}` };
    }
    if (outcome !== 'stopped') return { cuts };
  }
}

async function emptyHome(): Promise<LossyDisk> {
  const disk = lossyDisk();
  disk.makeDirectory(HOME);
  return disk.copy();
}

async function withEvents(withSnapshot: boolean): Promise<LossyDisk> {
  const disk = await emptyHome();
  const { journal, snapshots } = openFacts({ disk, locks: memoryLocks(), home: HOME });
  if (withSnapshot) snapshots.putAll([snapshotText(1)]);
  await journal.withLock(witness =>
    journal.append(witness, { events: [factDraft(1, { withSnapshot }), factDraft(2)] }),
  );
  return disk.copy();
}

/** A session whose writer was killed after it wrote the manifest and before it synced it. */
async function withKilledWriter(): Promise<LossyDisk> {
  const base = await withEvents(true);
  const recorded = recordingDisk(base.copy());
  await appendPlan(recorded.disk);
  const { disk } = await runUntil(base, recorded.operations.length - 1, appendPlan);
  return disk;
}

/** A journal whose last append was cut short between its segment record and its pins, with many of them. */
async function withLongTail(): Promise<LossyDisk> {
  const disk = await withEvents(true);
  const { journal, snapshots } = openFacts({ disk, locks: memoryLocks(), home: HOME });
  const before = disk.size(`${SESSION_DIRECTORY}/manifest.jsonl`) ?? 0;
  const numbers = Array.from({ length: 8 }, (_, index) => 50 + index);
  snapshots.putAll(numbers.map(snapshotText));
  await journal.withLock(witness =>
    journal.append(witness, { events: numbers.map(number => factDraft(number, { withSnapshot: true })) }),
  );
  const whole = disk.read(`${SESSION_DIRECTORY}/manifest.jsonl`);
  if (typeof whole !== 'object') throw new Error('no manifest');
  const file = disk.open(`${SESSION_DIRECTORY}/manifest.jsonl`, 'append');
  // All but the last pin, newline included.
  file.truncate(whole.lastIndexOf(0x0a, whole.length - 2) + 1);
  expect(disk.size(`${SESSION_DIRECTORY}/manifest.jsonl`)).toBeGreaterThan(before);
  return disk.copy();
}
