import {
  type Disk,
  type FileLocks,
  nodeHasher,
  type SegmentPacking,
  verifyJournal,
  zstdPacking,
} from '@signalbox/journal';
import { Bug } from '@signalbox/model';
import {
  type FactRecorded,
  factDraft,
  factSchema,
  memoryLocks,
  openFacts,
  snapshotText,
  TEST_SESSION,
} from '@signalbox/testkit';

/** Where a test keeps its journal. */
export interface Place {
  readonly home: string;
  readonly locks: FileLocks;
  readonly packing?: SegmentPacking;
}

const inMemory = (): Place => ({ home: 'home', locks: memoryLocks() });

/** Where segments are packed. */
export const packedInMemory = (): Place => ({ ...inMemory(), packing: zstdPacking });

/** The append under test: 3 events, of which 2 bring a new snapshot. */
const PLAN = {
  events: [factDraft(10, { withSnapshot: true }), factDraft(11, { withSnapshot: true }), factDraft(12)],
} as const;
const PLAN_SNAPSHOTS = [snapshotText(10), snapshotText(11)];

/** The guarantee of a piece of work to its caller, if it was completed. */
export type Outcome = 'acknowledged' | 'refused' | 'stopped';

/** Stores the snapshots of the plan and appends it, as a process that has just started. */
export async function appendPlan(disk: Disk, place = inMemory()): Promise<Outcome> {
  const { journal, snapshots } = openFacts({ disk, ...place });
  const appended = await journal.withLock(witness => {
    const stored = snapshots.putAll(PLAN_SNAPSHOTS);
    return stored.ok ? journal.append(witness, PLAN) : stored;
  });
  return appended.ok ? 'acknowledged' : 'refused';
}

/** The same, with the snapshots stored before the lock is taken. */
export async function storeThenAppendPlan(disk: Disk, place = inMemory()): Promise<Outcome> {
  const { journal, snapshots } = openFacts({ disk, ...place });
  if (!snapshots.putAll(PLAN_SNAPSHOTS).ok) return 'refused';
  const appended = await journal.withLock(witness => journal.append(witness, PLAN));
  return appended.ok ? 'acknowledged' : 'refused';
}

/** The same, but stores the snapshots only if the journal says that they are not in the store. */
export async function appendPlanOnStored(disk: Disk, place = inMemory()): Promise<Outcome> {
  const { journal } = openFacts({ disk, ...place });
  const appended = await journal.withLock(witness => journal.append(witness, PLAN));
  return appended.ok ? 'acknowledged' : appendPlan(disk, place);
}

/** Reads, and relies on the plan having been appended if it is there. */
export async function readPlan(disk: Disk, place = inMemory()): Promise<Outcome> {
  const read = openFacts({ disk, ...place }).journal.read();
  if (!read.ok) return 'refused';
  return read.value.find(PLAN.events[0].dedupeKey) === undefined ? 'refused' : 'acknowledged';
}

/** The valid contents of a journal after a crash. */
export interface Truths {
  readonly before: readonly FactRecorded[];
  readonly after: readonly FactRecorded[];
}

/**
 * What is wrong with a disk on which the plan was being appended when everything stopped, if anything: it must hold the
 * truth before or after, the latter if it had been acknowledged, and appending must go on from there.
 */
export async function violation(
  disk: Disk,
  truths: Truths,
  acknowledged: boolean,
  place = inMemory(),
): Promise<string | undefined> {
  const { journal, snapshots } = openFacts({ disk, ...place });
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
  const checked = verify(disk, place.home, place.packing);
  if (checked !== undefined && !checked.ok) return `verifier: ${checked.defect?.code}`;

  if ((await appendPlan(disk, place)) === 'refused') return 'the append cannot be repeated';
  const next = openFacts({ disk, ...place }).journal;
  const more = await next.withLock(witness => next.append(witness, { events: [factDraft(99)] }));
  if (!more.ok) return `the next append fails: ${more.error.message}`;
  const final = next.read();
  if (!final.ok || !sameEvents(final.value.events().slice(0, -1), truths.after))
    return 'the repeated append went wrong';
  return verify(disk, place.home, place.packing)?.ok === true
    ? undefined
    : 'the journal does not verify after the next append';
}

export function verify(disk: Disk, home: string, packing?: SegmentPacking) {
  return verifyJournal({
    disk,
    hasher: nodeHasher,
    schema: factSchema,
    directory: `${home}/sessions/${TEST_SESSION}`,
    snapshots: `${home}/snapshots`,
    packing,
  });
}

/** The events before and after the plan, which is appended to `disk` for that. */
export async function truthsOf(disk: Disk, place = inMemory()): Promise<Truths> {
  const read = () => {
    const view = openFacts({ disk, ...place }).journal.read();
    if (!view.ok) throw new Bug(view.error.message);
    return view.value.events();
  };
  const before = read();
  if ((await appendPlan(disk, place)) === 'refused') throw new Bug('the plan is refused');
  return { before, after: read() };
}

function sameEvents(left: readonly FactRecorded[], right: readonly FactRecorded[]): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
