import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Bug, type Json, type RunId } from '@signalbox/model';
import { openStore, type Store } from '@signalbox/store';
import { seededRng, startChild } from '@signalbox/testkit';
import { afterAll, describe, expect, it } from 'vitest';
import { thisMachine } from '../src/machine.ts';
import { verifyRunReplay } from '../src/replay/verify-replay.ts';
import { temporaryFolder } from './temporary-folder.ts';

const SOAK = process.env.SIGNALBOX_SOAK === '1';
const home = temporaryFolder();
const child = path.join(import.meta.dirname, 'support', 'crash-child.ts');
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

/** Runs a child until it ends by itself or is killed. */
async function life(folder: string, ...how: readonly (string | number)[]) {
  const running = startChild(child, folder, ...how);
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
  const running = startChild(child, folder);
  living.add(running);
  let ended: Awaited<typeof running.ended> | undefined;
  void running.ended.then(end => {
    ended = end;
  });
  while (ended === undefined && count() < goal) await new Promise(resolve => setImmediate(resolve));
  running.kill();
  const { signal, stdout } = await running.ended;
  living.delete(running);
  return signal === 'SIGKILL' ? undefined : (JSON.parse(stdout) as { run: RunId; commits: number });
}

/** Lives until the run is completed. */
async function toTheEnd(folder: string) {
  return (await life(folder)) ?? (await life(folder));
}

/** Everything that must be the same however often the process died. */
async function outcome(folder: string) {
  const opened = openStore({ path: path.join(folder, 'data', 'db.sqlite') });
  if (!opened.ok) throw new Bug(opened.error.message);
  const store = opened.value;
  const records = (await store.runs()).items.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const runs = await Promise.all(records.map(async ({ id }) => pictureOf(store, id)));
  store.close();
  return runs;
}

async function pictureOf(store: Store, run: RunId) {
  const record = await store.run(run);
  const results = (await store.tasks(run)).map(({ node, iteration, status, result }) =>
    JSON.stringify([node, iteration, status, result]),
  );
  const changes = new Map<string, Json[]>();
  for (let from = {}; ; ) {
    const page = await store.transitions(run, from);
    for (const { key, old, new: now, trigger, handler } of page.items) {
      // Siblings end in any order; what each of them did is the same.
      const isShared = key === 'parallel';
      const line = isShared
        ? [trigger ?? null, handler ?? null]
        : [old ?? null, now ?? null, trigger ?? null, handler ?? null];
      changes.set(key, [...(changes.get(key) ?? []), line]);
    }
    if (page.next === undefined) break;
    from = { from: page.next };
  }
  return {
    name: record?.name,
    status: record?.status,
    output: sorted(record?.output ?? null),
    results: results.sort(),
    changes: Object.fromEntries([...changes].sort()),
  };
}

async function isVerified(folder: string, run: RunId): Promise<boolean> {
  const verdict = await verifyRunReplay(path.join(folder, 'data'), run, { machine: thisMachine() });
  return verdict.ok && verdict.value.ok;
}

function sorted(value: Json): string {
  return JSON.stringify(value, (_, part) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort())
      : part,
  );
}

/** Work that was done, or a handler that was run, after the commit that made it durable. */
function doneAgain(folder: string): readonly string[] {
  const over = new Set<string>();
  const counted = new Set<string>();
  const again: string[] = [];
  for (const line of readFileSync(path.join(folder, 'side'), 'utf8').trim().split('\n')) {
    const [what, node, iteration, attempt] = line.split(' ');
    const place = `${node} ${iteration}`;
    if (what === 'committed') over.add(place);
    if (what === 'retried') over.add(`${place} ${attempt}`);
    if ((what === 'ran' || what === 'handled') && over.has(place)) again.push(line);
    if (what === 'ran' && over.has(`${place} ${attempt}`)) again.push(line);
    if (what === 'counted') {
      if (counted.has(line)) again.push(line);
      counted.add(line);
    }
  }
  return again;
}

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
    const stride = SOAK ? 1 : 41;
    for (let at = 1; at <= commits; at += stride) {
      for (const when of ['before', 'after'] as const) {
        const folder = newFolder();
        await life(folder, when, at);
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
    const kills = SOAK ? 300 : 5;
    const rng = seededRng(7);
    const below = (limit: number) => 1 + Math.floor(((rng.bytes(1)[0] ?? 0) / 256) * limit);
    for (let killed = 0; killed < kills; ) {
      const folder = newFolder();
      for (let died = true; died; ) {
        // At a commit, or in the middle of anything.
        const dying =
          killed % 3 === 0
            ? lifeUntil(folder, below(60))
            : life(folder, killed % 3 === 1 ? 'before' : 'after', below(commits / 3));
        died = (await dying) === undefined;
        if (died) killed += 1;
      }
      expect({ killed, again: doneAgain(folder), runs: await outcome(folder) }).toEqual({ killed, again: [], runs });
    }
  });
});
