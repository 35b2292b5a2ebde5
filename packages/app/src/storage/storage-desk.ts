import { rmSync } from 'node:fs';
import path from 'node:path';
import { DiskError, hostDisk } from '@signalbox/journal';
import {
  type Clock,
  type ErrorEnvelope,
  failure,
  ok,
  type Result,
  type RunId,
  type StorageReason,
  type StorageStanding,
  type Timestamp,
  timestampOf,
} from '@signalbox/model';
import type { Timers } from '@signalbox/plan';
import type { Blobs, Commit, CommitError, Committed, RunOrigin, RunReader } from '@signalbox/runs';
import { storageFaultOf, thrownStorageFault } from '@signalbox/store';

/**
 * Holds writes of runs while the disk accepts none.
 *
 * 1. A write that the disk refuses is not answered: it waits, and so does every later write. Nothing that was answered is lost, nothing is
 *    done twice, and a run that waits for its commits starts no further work: it is paused.
 * 2. The first waiting write is retried after doubling waits. When it succeeds, the rest follow in order.
 * 3. Waiting writes are only in memory: `standing` shows them, and `onOver` is called at the end, with the duration.
 * 4. When the process ends, each is tried once more and then answered with the reason. Commits stay the truth.
 */
export interface StorageDesk extends Commit {
  /** Stores blobs of a run. */
  put(run: RunId, contents: readonly Uint8Array[]): ReturnType<Blobs['put']>;
  /**
   * Resolves when the disk accepts a file of some size; false if the process ends first. For work that the disk refused outside of commits.
   */
  room(run: RunId): Promise<boolean>;
  standing(): StorageStanding;
  /** Called whenever the standing changed. */
  subscribe(listener: () => void): () => void;
  /** Why nothing can be requested now; undefined if it can. */
  refusal(): ErrorEnvelope<'store/held'> | undefined;
  /** Ends all waits, now and later. */
  endWaits(): void;
}

export interface StorageDeskOptions {
  readonly store: Commit & Pick<Blobs, 'put'> & Pick<RunReader, 'run'>;
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Called for every held run when it is released. */
  readonly onOver?: (run: RunId, hold: Hold) => void;
}

/** A period in which nothing could be written. */
export interface Hold {
  readonly reason: StorageReason;
  readonly since: Timestamp;
}

/** A waiting write. `attempt` returns why the disk refused it, or nothing on success. */
interface Waiting {
  readonly run: RunId;
  /** The origin of the run, if this write creates it. */
  readonly origin?: RunOrigin | undefined;
  attempt(isLast: boolean): Promise<StorageReason | undefined>;
}

/** A commit of a run's driver that is on its way. */
interface Unanswered {
  isAnswered: boolean;
  /** Why the disk refused it at first. */
  readonly fault: Promise<StorageReason | undefined>;
}

const FIRST_WAIT_MS = 250;
const MOST_WAIT_MS = 5000;
/** More than any commit needs besides its blobs. */
const ROOM_BYTES = 256 * 1024;

export function createStorageDesk(options: StorageDeskOptions): StorageDesk {
  const { store, dataDirectory, clock, timers, onOver } = options;
  const listeners = new Set<() => void>();
  const queue: Waiting[] = [];
  /** Waiting runs and their ancestors. */
  const heldRuns = new Set<RunId>();
  /** The last of each run. */
  const unanswered = new Map<RunId, Unanswered>();
  let hold: Hold | undefined;
  let waitMs = FIRST_WAIT_MS;
  let cancelTimer: (() => void) | undefined;
  let isEnding = false;
  let isAdvancing = false;

  const tell = () => {
    for (const listener of [...listeners]) listener();
  };

  /** Tries, and waits as long as the disk is the cause. */
  function patiently<T>(
    { run, origin }: Pick<Waiting, 'run' | 'origin'>,
    work: () => Promise<T>,
    faultOf: (outcome: T) => Promise<StorageReason | undefined> | StorageReason | undefined,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const waiting: Waiting = {
      run,
      origin,
      async attempt(isLast) {
        try {
          const outcome = await work();
          const fault = await faultOf(outcome);
          if (fault !== undefined && !isLast) return fault;
          resolve(outcome);
        } catch (thrown) {
          reject(thrown);
        }
        return undefined;
      },
    };
    if (hold === undefined || isEnding) {
      void waiting.attempt(isEnding).then(fault => fault !== undefined && enqueue(waiting, fault));
    } else enqueue(waiting, hold.reason);
    return promise;
  }

  /** A run may send commits before the first is answered. If that one waits for the disk, those after it are refused, and wait too. */
  function commitInOrder(...[writes, guard]: Parameters<Commit['commit']>): ReturnType<Commit['commit']> {
    const origin = writes.run?.kind === 'create' ? writes.run.run.origin : undefined;
    const work = () => commitOrFind(store, writes, guard);
    if (guard.version === 'any') return patiently({ run: guard.run, origin }, work, faultIn);
    const before = unanswered.get(guard.run);
    const first = Promise.withResolvers<StorageReason | undefined>();
    const own: Unanswered = { isAnswered: false, fault: first.promise };
    unanswered.set(guard.run, own);
    const committed = patiently({ run: guard.run, origin }, work, async outcome => {
      const isLate = !outcome.ok && before !== undefined && !before.isAnswered;
      const fault = faultIn(outcome) ?? (isLate ? await before.fault : undefined);
      first.resolve(fault);
      return fault;
    });
    const answered = () => {
      own.isAnswered = true;
      first.resolve(undefined);
      if (unanswered.get(guard.run) === own) unanswered.delete(guard.run);
    };
    committed.then(answered, answered);
    return committed;
  }

  function enqueue(waiting: Waiting, reason: StorageReason): void {
    if (isEnding) return void waiting.attempt(true);
    queue.push(waiting);
    hold ??= { reason, since: timestampOf(clock) };
    void addHeld(waiting);
    if (queue.length === 1) schedule();
  }

  /** The run and its ancestors: parents wait for their children. */
  async function addHeld({ run, origin }: Waiting): Promise<void> {
    for (let at: RunId | undefined = run; at !== undefined && !heldRuns.has(at); ) {
      heldRuns.add(at);
      tell();
      const record: Awaited<ReturnType<RunReader['run']>> = await store.run(at).catch(() => undefined);
      const from: RunOrigin | undefined = record?.origin ?? (at === run ? origin : undefined);
      at = from?.kind === 'sub-plan' && hold !== undefined ? from.run : undefined;
    }
  }

  function schedule(): void {
    cancelTimer = timers.after(waitMs, () => void advance());
    waitMs = Math.min(waitMs * 2, MOST_WAIT_MS);
  }

  async function advance(): Promise<void> {
    if (isAdvancing) return;
    isAdvancing = true;
    const fault = await through();
    isAdvancing = false;
    if (fault === undefined) return open();
    if (hold !== undefined && hold.reason !== fault) {
      hold = { ...hold, reason: fault };
      tell();
    }
    schedule();
  }

  /** Tries waiting writes in order, as far as the disk accepts them. */
  async function through(): Promise<StorageReason | undefined> {
    for (let first = queue[0]; first !== undefined; first = queue[0]) {
      const fault = await first.attempt(isEnding);
      if (fault === undefined) queue.shift();
      else if (!isEnding) return fault;
    }
    return undefined;
  }

  function open(): void {
    const over = hold;
    const runs = [...heldRuns];
    hold = undefined;
    waitMs = FIRST_WAIT_MS;
    heldRuns.clear();
    // An ending process has answered all waits, which says nothing about the disk.
    if (over === undefined || isEnding) return;
    for (const run of runs) onOver?.(run, over);
    tell();
  }

  return {
    commit: commitInOrder,
    put: (run, contents) => patiently({ run }, () => store.put(contents), faultIn),
    async room(run) {
      const fault = await patiently(
        { run },
        async () => roomFault(dataDirectory),
        outcome => outcome,
      );
      return fault === undefined;
    },
    standing() {
      if (hold === undefined) return { status: 'ok' };
      const { reason, since } = hold;
      const message = wordsOf(reason, dataDirectory);
      return { status: reason, message, since, runs: [...heldRuns], waiting: queue.length };
    },
    subscribe(listener) {
      const own = () => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    refusal() {
      if (hold === undefined) return undefined;
      return failure('store/held', {
        message: wordsOf(hold.reason, dataDirectory),
        suggestion: 'Paused runs resume automatically once it accepts writes again; then try again.',
        retry: { kind: 'retryable_after_ms', afterMs: MOST_WAIT_MS },
        details: { reason: hold.reason, since: hold.since },
      });
    },
    endWaits() {
      isEnding = true;
      cancelTimer?.();
      if (queue.length > 0) void advance();
    },
  };
}

function faultIn(outcome: Result<unknown, ErrorEnvelope>): StorageReason | undefined {
  return outcome.ok ? undefined : storageFaultOf(outcome.error);
}

/**
 * Commits. If the outcome is unknown, it is looked up: only this process writes, each driver's commit on the version before it, so a run
 * that is further has the commit; otherwise it can be repeated.
 */
async function commitOrFind(
  store: StorageDeskOptions['store'],
  ...[writes, guard]: Parameters<Commit['commit']>
): Promise<Result<Committed, CommitError>> {
  const outcome = await store.commit(writes, guard);
  if (outcome.ok || outcome.error.code !== 'store/outcome-unknown' || guard.version === 'any') return outcome;
  const record = await store.run(guard.run);
  if (record === undefined || record.version <= guard.version) return outcome;
  const { id: run, epoch, nextSeq, head } = record;
  return ok({ run, epoch, version: guard.version + 1, nextSeq, head });
}

/** Writes a file of some size, and removes it. */
function roomFault(dataDirectory: string): StorageReason | undefined {
  const file = path.join(dataDirectory, `room-${process.pid}.tmp`);
  try {
    const open = hostDisk.open(file, 'create');
    try {
      open.write(new Uint8Array(ROOM_BYTES));
      open.sync();
    } finally {
      open.close();
    }
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof DiskError)) throw thrown;
    return thrownStorageFault(thrown) ?? 'failing';
  } finally {
    rmSync(file, { force: true });
  }
}

function wordsOf(reason: StorageReason, dataDirectory: string): string {
  switch (reason) {
    case 'full':
      return `The disk of the data directory ${dataDirectory} is full. Free some space.`;
    case 'read-only':
      return `The data directory ${dataDirectory} is read-only. Make it writable again.`;
    case 'failing':
      return `The disk of the data directory ${dataDirectory} refuses writes. Check the disk.`;
  }
}
