import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Bug, type RunId } from '@signalbox/model';
import { everyRun, planVersionOf, type RunRecord } from '@signalbox/runs';
import { openStore } from '@signalbox/store';
import { seededRng, startChild } from '@signalbox/testkit';
import { afterAll, describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { sized } from '../../../test/sized.ts';
import { thisMachine } from '../src/machine.ts';
import { verifyRunReplay } from '../src/replay/verify-replay.ts';
import { isVerified, type Kill, linesOf, openDecision, ownerLives, readerOf } from './support/owner-lives.ts';
import { doneAgain, outcome } from './support/run-outcome.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

const SOAK = process.env.SIGNALBOX_SOAK === '1';
const home = temporaryFolder();
const machine = thisMachine();
const child = childScript(import.meta.dirname, 'support', 'crash-child.ts');
const living = new Set<ReturnType<typeof startChild>>();
afterAll(() => {
  for (const { kill } of living) kill();
});

let folders = 0;
function newFolder(): string {
  folders += 1;
  const folder = path.join(home, String(folders));
  mkdirSync(folder);
  return folder;
}

type Mode = 'plain' | 'repaired';

/** Runs a child until it ends by itself or is killed. */
async function life(folder: string, mode: Mode, ...how: readonly (string | number)[]) {
  const running = startChild(child, folder, mode, ...how);
  living.add(running);
  const ended = await running.ended;
  living.delete(running);
  if (ended.signal !== 'SIGKILL' && ended.code !== 0) throw new Bug(`a child ended with ${ended.code}`);
  return ended.signal === 'SIGKILL' ? undefined : (JSON.parse(ended.stdout) as { run: RunId; commits: number });
}

/** Kills a child from outside, once it has left so many more lines in the side file. */
async function lifeUntil(folder: string, lines: number) {
  const side = path.join(folder, 'side');
  const count = () => (existsSync(side) ? readFileSync(side, 'utf8').split('\n').length : 0);
  const goal = count() + lines;
  const running = startChild(child, folder, 'plain');
  living.add(running);
  let ended: Awaited<typeof running.ended> | undefined;
  void running.ended.then(end => {
    ended = end;
  });
  while (ended === undefined && count() < goal) await setTimeout(1);
  running.kill();
  const { signal, stdout } = await running.ended;
  living.delete(running);
  return signal === 'SIGKILL' ? undefined : (JSON.parse(stdout) as { run: RunId; commits: number });
}

/** Lives until the run is completed. */
async function toTheEnd(folder: string, mode: Mode = 'plain') {
  return (await life(folder, mode)) ?? (await life(folder, mode));
}

async function rootOf(folder: string): Promise<RunRecord> {
  const opened = openStore({ path: path.join(folder, 'data', 'db.sqlite') });
  if (!opened.ok) throw new Bug(opened.error.message);
  const [root] = (await opened.value.runs()).items.filter(({ origin }) => origin === undefined);
  opened.value.close();
  if (root === undefined) throw new Bug('there is no run');
  return root;
}

const rootRun = async (folder: string) => (await rootOf(folder)).id;
const versions = async (folder: string) => planVersionOf(await rootOf(folder));

describe('a plan of forty steps', () => {
  const folder = newFolder();
  const undisturbed = toTheEnd(folder).then(async ended => ({
    commits: ended?.commits ?? 0,
    runs: await outcome(folder),
  }));

  it('[A30] ends as it should when nothing happens', async () => {
    const { runs } = await undisturbed;
    expect(runs.map(({ name, status }) => [name, status])).toEqual([
      ['crash', 'completed'],
      ['inner', 'completed'],
    ]);
    expect(doneAgain(folder)).toEqual([]);
    expect(runs.flatMap(({ results }) => results)).toHaveLength(40);
  });

  it('[A30] ends the same when its process is killed before or after any commit, and does nothing again', async () => {
    const { commits, runs } = await undisturbed;
    const stride = sized(83, 41, 1);
    for (let at = 1; at <= commits; at += stride) {
      for (const when of ['before', 'after'] as const) {
        const folder = newFolder();
        await life(folder, 'plain', when, at);
        const { run } = (await toTheEnd(folder)) ?? {};
        expect({ at, when, again: doneAgain(folder), runs: await outcome(folder) }).toEqual({
          at,
          when,
          again: [],
          runs,
        });
        // Right after a run was made it has no frame yet: it is begun, not taken up.
        if (at === 1 && run !== undefined) expect(await isVerified(folder, run)).toBe(true);
      }
    }
  });

  it('[A30] ends the same when its process is killed at random, again and again', async () => {
    const { commits, runs } = await undisturbed;
    const kills = sized(3, 5, 300);
    const rng = seededRng(7);
    const below = (limit: number) => 1 + Math.floor(((rng.bytes(1)[0] ?? 0) / 256) * limit);
    for (let killed = 0; killed < kills; ) {
      const folder = newFolder();
      for (let died = true; died; ) {
        // At a commit, or in the middle of anything.
        const dying =
          killed % 3 === 0
            ? lifeUntil(folder, below(60))
            : life(folder, 'plain', killed % 3 === 1 ? 'before' : 'after', below(commits / 3));
        died = (await dying) === undefined;
        if (died) killed += 1;
      }
      expect({ killed, again: doneAgain(folder), runs: await outcome(folder) }).toEqual({ killed, again: [], runs });
    }
  });

  it('[A166] ends the same when bugs of its plan are corrected half-way, whenever its process is killed', async () => {
    const { runs } = await undisturbed;
    const rng = seededRng(12);
    const sides: readonly ('before' | 'after')[] = ['before', 'after'];
    const everyPoint = async () => {
      const whole = newFolder();
      const { commits = 0 } = (await toTheEnd(whole, 'repaired')) ?? {};
      expect({ again: doneAgain(whole), runs: await outcome(whole) }).toEqual({ again: [], runs });
      const sample = () => 1 + Math.floor(((rng.bytes(1)[0] ?? 0) / 256) * commits);
      return SOAK ? Array.from({ length: commits }, (_, at) => at + 1) : [sample()];
    };
    // In the middle, where some bugs are corrected and others are not.
    const middle = async () => [20];
    const points = await sized(middle, everyPoint, everyPoint)();
    for (const when of sized(sides.slice(1), sides, sides)) {
      for (const at of points) {
        const folder = newFolder();
        expect(await life(folder, 'repaired', when, at)).toBeUndefined();
        await toTheEnd(folder, 'repaired');
        expect(await versions(folder)).toBe(5);
        // A replay calls handlers, which leave their lines too.
        const again = doneAgain(folder);
        const verdict = await verifyRunReplay(path.join(folder, 'data'), await rootRun(folder), { machine });
        expect({ at, when, again, runs: await outcome(folder), verdict }).toEqual({
          ...{ at, when, again: [], runs },
          verdict: { ok: true, value: expect.objectContaining({ ok: true }) },
        });
      }
    }
  });
});

describe('an owner', () => {
  const lives = ownerLives();
  const rng = seededRng(31);
  const sample = (limit: number) => 1 + Math.floor(((rng.bytes(1)[0] ?? 0) / 256) * limit);
  /** All points, or so many of them. */
  const some = <T>(points: readonly T[], count: number): readonly T[] =>
    SOAK ? points : Array.from({ length: count }, () => points[sample(points.length) - 1] as T);

  /**
   * Owners die until the task has begun six times, one of them at a commit of its own besides; a person has it tried again
   * whenever that is asked.
   */
  async function diesAgainAndAgain(dying?: { readonly life: number; readonly kill: Kill }) {
    const folder = lives.newFolder();
    const said: string[] = [];
    const commits: number[] = [];
    for (let life = 1; ; life++) {
      const known = existsSync(path.join(folder, 'data', 'db.sqlite')) ? await anyRoot(folder) : undefined;
      if (known?.status === 'completed') {
        const reader = readerOf(folder);
        const tasks = (await reader.tasks(known.id)).map(({ status, retryCount }) => [status, retryCount]);
        reader.close();
        return { said, commits, tasks, isVerified: await isVerified(folder, known.id) };
      }
      const question = known === undefined ? undefined : await openDecision(folder, known.id);
      if (question !== undefined) said.push('try again');
      const how =
        known === undefined
          ? ['start', 'long.tsx', 1]
          : question === undefined
            ? ['take-up']
            : ['answer', question.id, 'try-again'];
      const before = linesOf(folder, 'begun').length;
      const owner = lives.owner(folder, dying?.life === life ? dying.kill : 'never', ...how);
      let isOver = false;
      void owner.ended.then(() => {
        isOver = true;
      });
      await until(() => (isOver || linesOf(folder, 'begun').length > before ? true : undefined));
      if (linesOf(folder, 'begun').length > before) said.push('begun');
      if (linesOf(folder, 'begun').length < 6) owner.kill();
      else writeFileSync(path.join(folder, 'go'), '');
      await owner.ended;
      commits.push(Number(linesOf(folder, 'commits').at(-1)));
    }
  }

  it('[A177] that dies five times with a task running, and at any commit besides, costs it no retry', async () => {
    const asked = ['try again', 'begun'];
    const done = { tasks: [['done', 0]], isVerified: true };
    const everyPoint = async (): Promise<readonly { readonly life: number; readonly kill: Kill }[]> => {
      const undisturbed = await diesAgainAndAgain();
      expect(undisturbed).toMatchObject({ ...done, said: [...Array(4).fill('begun'), ...asked, ...asked] });
      return undisturbed.commits.flatMap((count, life) =>
        Array.from({ length: count }, (_, at) =>
          (['before', 'after'] as const).map(when => ({ life: life + 1, kill: `${when}:${at + 1}` as const })),
        ).flat(),
      );
    };
    // Deaths at no commit besides are those of `owner-death.test.ts`.
    const fixed: typeof everyPoint = async () => [{ life: 2, kill: 'after:1' }];
    for (const point of some(await sized(fixed, everyPoint, everyPoint)(), 1)) {
      const { said, ...rest } = await diesAgainAndAgain(point);
      // Begun four times by itself at most, then once for each time that a person said so.
      const first = said.indexOf('try again');
      const alone = said.slice(0, first);
      const later = said.slice(first).join();
      expect({ point, ...rest }).toMatchObject({ point, ...done });
      expect({ point, alone }).toEqual({ point, alone: Array(Math.min(4, alone.length)).fill('begun') });
      expect({ point, later }).toEqual({ point, later: expect.not.stringContaining('begun,begun') });
    }
  });

  const many = sized(12, 125, 125);
  it(`[A175] that dies at any commit while it starts ${many} runs leaves none of them behind`, async () => {
    const whole = lives.newFolder();
    writeFileSync(path.join(whole, 'go'), '');
    await lives.owner(whole, 'never', 'start', 'long.tsx', many).ended;
    const commits = linesOf(whole, 'commits').length;
    expect(commits).toBeGreaterThan(2 * many);
    // The moment before a commit is the moment after the previous one.
    const points = Array.from({ length: commits }, (_, at) => at + 1);
    for (const at of some(points, 1)) {
      const folder = lives.newFolder();
      const kill = `${at % 2 === 0 ? 'before' : 'after'}:${at}` as const;
      writeFileSync(path.join(folder, 'go'), '');
      const first = await lives.owner(folder, kill, 'start', 'long.tsx', many).ended;
      // Runs that are quick take fewer commits: the last points may not be reached.
      if (first.code !== 0) expect(first.signal).toBe('SIGKILL');
      const second = lives.owner(folder, 'never', 'take-up');
      expect((await second.ended).code).toBe(0);
      const reader = readerOf(folder);
      const left = await allRuns(reader);
      const standing = new Set(left.map(({ status }) => status));
      const known = new Set<string>(left.map(({ id }) => id));
      const started = linesOf(folder, 'started');
      reader.close();
      expect({ at, lost: started.filter(id => !known.has(id)), standing: [...standing] }).toEqual({
        at,
        lost: [],
        standing: ['completed'],
      });
    }
  });
});

async function anyRoot(folder: string): Promise<RunRecord | undefined> {
  const reader = readerOf(folder);
  const [root] = (await reader.runs()).items;
  reader.close();
  return root;
}

async function allRuns(reader: ReturnType<typeof readerOf>): Promise<readonly RunRecord[]> {
  const found: RunRecord[] = [];
  for await (const run of everyRun(reader)) found.push(run);
  return found;
}
