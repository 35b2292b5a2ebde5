/**
 * The journal next to its floors, interleaved, one JSON line a figure.
 *
 *   node bench/journal.ts [--dir DIR] [--rounds N]
 *
 * append     3 events of 400 B and 2 new snapshots of 1 kB, as the floor `append` writes, at event 10 and at event 30,000
 * cold load  3,000 events in segments of 3, by a journal that has read nothing yet, next to the floor `read`
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { type Disk, hostDisk, nodeHasher, sqliteLocks } from '@signalbox/journal';
import { deriveId, type SessionId } from '@signalbox/model';
import { factDraft, openFacts, recordingDisk } from '@signalbox/testkit';
import { append as appendFloor, read as readFloor } from './floors/floors.mjs';

const { values } = parseArgs({ options: { dir: { type: 'string' }, rounds: { type: 'string', default: '300' } } });
const rounds = Number(values.rounds);
const root = mkdtempSync(path.join(values.dir ?? tmpdir(), 'signalbox-bench-'));
try {
  await benchAppend();
  await benchColdLoad('cold load', false);
  await benchColdLoad('cold load, 2 pins a segment', true);
} finally {
  rmSync(root, { recursive: true, force: true });
}

async function benchAppend(): Promise<void> {
  const home = directory('append');
  const long = writer(home, 'long');
  while (long.length() < 30_000) await long.append();
  const floor = appendFloor(directory('append-floor'));

  const times = { floor: [] as number[], at10: [] as number[], at30000: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const short = writer(home, `short ${round}`);
    while (short.length() < 9) await short.append();
    times.floor.push(await timed(floor));
    times.at10.push(await timed(short.append));
    times.at30000.push(await timed(long.append));
  }

  const recorded = recordingDisk(hostDisk);
  const counted = writer(home, 'counted', recorded.disk);
  await counted.append();
  const before = recorded.operations.length;
  await counted.append();
  const syncs = recorded.operations.slice(before).filter(operation => operation.startsWith('sync')).length;

  print('append at event 10', times.at10, 'append', times.floor, 1.3, { syncs });
  print('append at event 30000', times.at30000, 'append', times.floor, 1.3, { syncs });
  print('append at event 30000 next to event 10', times.at30000, 'append at event 10', times.at10, 1.2);
}

async function benchColdLoad(name: string, withSnapshots: boolean): Promise<void> {
  const home = directory(name);
  const filled = writer(home, 'filled', hostDisk, withSnapshots);
  while (filled.length() < 3_000) await filled.append();
  const floor = readFloor(directory(`${name} floor`), 3_000);
  const load = () => {
    const read = openFacts({ disk: hostDisk, locks: sqliteLocks, home, sessionId: filled.sessionId }).journal.read();
    if (!read.ok || read.value.length !== 3_000) throw new Error('the journal was not read');
  };
  const times = { floor: [] as number[], load: [] as number[] };
  const warmUp = 10;
  for (let round = 0; round < warmUp + rounds / 5; round++) {
    const [floorMs, loadMs] = [await timed(floor), await timed(load)];
    if (round < warmUp) continue;
    times.floor.push(floorMs);
    times.load.push(loadMs);
  }
  print(name, times.load, 'read', times.floor, withSnapshots ? undefined : 2);
}

/** Appends what the floor `append` writes: 3 events of 400 B, 2 snapshots of 1 kB. */
function writer(home: string, name: string, disk: Disk = hostDisk, withSnapshots = true) {
  const sessionId = deriveId<SessionId>('bench', name);
  const { journal, snapshots } = openFacts({ disk, locks: sqliteLocks, home, sessionId });
  let next = 0;
  const draft = (number: number, snapshotRef?: ReturnType<typeof nodeHasher>) => {
    const data = { text: '', ...(snapshotRef && { snapshotRef }) };
    const bare = JSON.stringify({ ...factDraft(number), data, v: 1, sessionId, eventIndex: number }).length;
    return { ...factDraft(number), data: { ...data, text: 'x'.repeat(Math.max(400 - bare, 0)) } };
  };
  return {
    sessionId,
    length: () => next,
    async append() {
      const texts = [next, next + 1].map(number => `${name} ${number} `.padEnd(1024, 'x'));
      const refs = texts.map(nodeHasher);
      if (withSnapshots) snapshots.putAll(texts);
      const events = [0, 1, 2].map(offset => draft(next + offset, withSnapshots ? refs[offset] : undefined));
      const appended = await journal.withLock(witness => journal.append(witness, { events }));
      if (!appended.ok) throw new Error(appended.error.message);
      next += 3;
    },
  };
}

function directory(name: string): string {
  const made = path.join(root, name.replaceAll(/\W+/g, '-'));
  mkdirSync(made);
  return made;
}

async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function print(
  name: string,
  times: readonly number[],
  floor: string,
  floorTimes: readonly number[],
  reach?: number,
  more: object = {},
): void {
  const [p50ms, floorP50ms] = [median(times), median(floorTimes)];
  const ratio = round(p50ms / floorP50ms);
  const goal = reach === undefined ? {} : { reach, reached: ratio <= reach };
  const line = { bench: name, n: times.length, p50ms: round(p50ms), p95ms: round(quantile(times, 0.95)) };
  console.log(JSON.stringify({ ...line, floor, floorP50ms: round(floorP50ms), ratio, ...goal, ...more }));
}

function median(times: readonly number[]): number {
  return quantile(times, 0.5);
}

function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
