import { type Disk, nodeHasher, verifyJournal } from '@signalbox/journal';
import { Bug } from '@signalbox/model';
import {
  type FactRecorded,
  factDraft,
  factSchema,
  interceptedDisk,
  type LossyDisk,
  memoryLocks,
  openFacts,
  snapshotText,
  TEST_SESSION,
} from '@signalbox/testkit';

export const HOME = 'home';
export const SESSION_DIRECTORY = `${HOME}/sessions/${TEST_SESSION}`;

/** The append under test: 3 events, of which 2 bring a new snapshot. */
export const PLAN = {
  events: [factDraft(10, { withSnapshot: true }), factDraft(11, { withSnapshot: true }), factDraft(12)],
} as const;
export const PLAN_SNAPSHOTS = [snapshotText(10), snapshotText(11)];

/** Stores the snapshots of the plan and appends it, as a process that has just started. */
export async function appendPlan(disk: Disk): Promise<Outcome> {
  const { journal, snapshots } = openFacts({ disk, locks: memoryLocks(), home: HOME });
  const appended = await journal.withLock(witness => {
    const stored = snapshots.putAll(PLAN_SNAPSHOTS);
    return stored.ok ? journal.append(witness, PLAN) : stored;
  });
  return appended.ok ? 'acknowledged' : 'refused';
}

/** The same, but stores the snapshots only if the journal says that they are not in the store. */
export async function appendPlanOnStored(disk: Disk): Promise<Outcome> {
  const { journal } = openFacts({ disk, locks: memoryLocks(), home: HOME });
  const appended = await journal.withLock(witness => journal.append(witness, PLAN));
  return appended.ok ? 'acknowledged' : appendPlan(disk);
}

/** Reads, and relies on the plan having been appended if it is there. */
export async function readPlan(disk: Disk): Promise<Outcome> {
  const read = openFacts({ disk, locks: memoryLocks(), home: HOME }).journal.read();
  if (!read.ok) return 'refused';
  return read.value.find(PLAN.events[0].dedupeKey) === undefined ? 'refused' : 'acknowledged';
}

/** What a journal may hold after a crash. */
export interface Truths {
  readonly before: readonly FactRecorded[];
  readonly after: readonly FactRecorded[];
}

/**
 * What is wrong with a disk on which the plan was being appended when everything stopped, if anything: it must hold the
 * truth before or after, the latter if it had been acknowledged, and appending must go on from there.
 */
export async function violation(disk: Disk, truths: Truths, acknowledged: boolean): Promise<string | undefined> {
  const { journal, snapshots } = openFacts({ disk, locks: memoryLocks(), home: HOME });
  const read = journal.read();
  if (!read.ok) return `cannot be read: ${read.error.message}`;
  const events = read.value.events();
  const isAfter = sameEvents(events, truths.after);
  if (!isAfter && !sameEvents(events, truths.before)) return `holds ${events.length} events: neither before nor after`;
  if (acknowledged && !isAfter) return 'an acknowledged append is gone';
  for (const event of events) {
    const ref = event.data.snapshotRef;
    if (ref !== undefined && !snapshots.get(ref).ok) return `snapshot of event ${event.eventIndex} is gone`;
  }
  const checked = verify(disk);
  if (checked !== undefined && !checked.ok) return `verifier: ${checked.defect?.code}`;

  if ((await appendPlan(disk)) === 'refused') return 'the append cannot be repeated';
  const next = openFacts({ disk, locks: memoryLocks(), home: HOME }).journal;
  const more = await next.withLock(witness => next.append(witness, { events: [factDraft(99)] }));
  if (!more.ok) return `the next append fails: ${more.error.message}`;
  const final = next.read();
  if (!final.ok || !sameEvents(final.value.events().slice(0, -1), truths.after))
    return 'the repeated append went wrong';
  return verify(disk)?.ok === true ? undefined : 'the journal does not verify after the next append';
}

export function verify(disk: Disk) {
  return verifyJournal({
    disk,
    hasher: nodeHasher,
    schema: factSchema,
    directory: SESSION_DIRECTORY,
    snapshots: `${HOME}/snapshots`,
  });
}

/** The events before and after the plan, from an uninterrupted run. */
export async function truthsOf(base: LossyDisk): Promise<Truths> {
  const disk = base.copy();
  const read = () => {
    const view = openFacts({ disk, locks: memoryLocks(), home: HOME }).journal.read();
    if (!view.ok) throw new Bug(view.error.message);
    return view.value.events();
  };
  const before = read();
  if ((await appendPlan(disk)) === 'refused') throw new Bug('the plan is refused');
  return { before, after: read() };
}

/** Thrown where everything, or one process, stops. */
class Stopped extends Error {}

/** What a piece of work, if it came to its end, lets its caller rely on. */
export type Outcome = 'acknowledged' | 'refused' | 'stopped';

/**
 * Runs `work` on a copy of `base` and cuts the power before operation number `at`. The disk as it was at that moment,
 * and how far the work had come.
 */
export async function runUntil(
  base: LossyDisk,
  at: number,
  work: (disk: Disk) => Promise<Outcome>,
  ignoredSync: (label: string) => boolean = () => false,
): Promise<{ readonly disk: LossyDisk; readonly outcome: Outcome }> {
  const disk = base.copy();
  const forgetful = interceptedDisk(disk, (operation, path, run) =>
    // What a sync returns is nothing, so one that is not done returns the same.
    operation.startsWith('sync') && ignoredSync(labelOf(operation, path)) ? (undefined as never) : run(),
  );
  return { disk, outcome: await killedAt(forgetful, at, work) };
}

/** Runs `work` as a process that is killed before operation number `at`; what it did stays in the page cache. */
export async function killedAt(disk: Disk, at: number, work: (disk: Disk) => Promise<Outcome>): Promise<Outcome> {
  let count = 0;
  const mortal = interceptedDisk(disk, (_operation, _path, run) => {
    if (count++ >= at) throw new Stopped();
    return run();
  });
  try {
    return await work(mortal);
  } catch (cause) {
    if (cause instanceof Stopped) return 'stopped';
    throw cause;
  }
}

/** Names a sync by what it makes durable, not by the ids of this run. */
export function labelOf(operation: string, path: string): string {
  const place = path.replace(SESSION_DIRECTORY, '<session>').replace(/\.[0-9a-f]{64}\.\d+\.tmp$/, '<snapshot>');
  return `${operation} ${place}`;
}

export interface Cut {
  readonly survivors: ReadonlySet<number>;
  readonly tornBytes?: number;
}

/** Every outcome of a power cut: each subset of what was not synced, with its last write torn at the bytes asked for. */
export function* cutsOf(disk: LossyDisk, tearsOf: (length: number) => readonly number[]): Generator<Cut> {
  const pending = disk.pending();
  const lastWrite = pending.findLastIndex(effect => effect.kind === 'write');
  for (let mask = 0; mask < 2 ** pending.length; mask++) {
    const survivors = new Set([...pending.keys()].filter(position => ((mask >> position) & 1) === 1));
    yield { survivors };
    if (!survivors.has(lastWrite)) continue;
    for (const tornBytes of tearsOf(pending[lastWrite]?.bytes ?? 0)) yield { survivors, tornBytes };
  }
}

function sameEvents(left: readonly FactRecorded[], right: readonly FactRecorded[]): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
