import { defined, type RunId, type ThrownPlace } from '@signalbox/model';
import type { Timers } from '@signalbox/plan';
import type { SharedSecrets } from '../secrets/open-secrets.ts';
import type { PlanKey } from './plan-key.ts';
import { type PlanThread, startPlanThread, type ThreadTime } from './plan-thread.ts';
import type { Launch } from './plan-worker-start.ts';
import { PortClosedError } from './port-calls.ts';
import type { ThreadHost } from './thread-api.ts';

/**
 * The threads of a process, and their occupants.
 *
 * 1. A thread runs code of one plan's files only (R39). Runs of the same files share threads.
 * 2. A few empty threads are kept for the next request; so is one that has run no code yet.
 * 3. A silent thread accepts nobody.
 */
export interface PlanSeats {
  /** A thread for code of these plan files; for unknown files, one that has run no other code. */
  take(plan: PlanKey | undefined): Seat;
  /** A thread for loading a plan file with unknown imports; shared with others that load the same file. */
  takeForFile(file: string): Seat;
  /** A dedicated thread. */
  takeOwn(): Seat;
  /** Works in a thread. Undefined if the thread was lost and this work cannot be identified as the cause. */
  work<T>(
    seat: Seat,
    who: RunId | symbol,
    silenceMs: number,
    work: () => Promise<T>,
  ): Promise<T | ThreadLost | undefined>;
  /** Starts a thread that will be needed. */
  warm(): void;
  /** That thread, until it is used. */
  warmed(): Seat | undefined;
  close(): void;
}

export interface Seat {
  readonly thread: PlanThread;
  /** Runs that it drives, and its running requests, each with how long it may keep the thread silent alone. */
  readonly busy: Map<RunId | symbol, number>;
  readonly isOwn: boolean;
  /** The plan whose code it runs; undefined while it has run none, or none that is known. */
  plan?: PlanKey | undefined;
  /** It has run code. */
  isUsed?: boolean;
  /** The file that is loaded in it first. */
  file?: string | undefined;
  /** It is ended because of a command for one run: nobody in it is to blame. */
  isPardoned?: boolean;
  /** Why it was lost, and whether it had more than one occupant then. */
  readonly lost: Promise<{ readonly reason: string; readonly wasShared: boolean }>;
}

export interface ThreadLost {
  readonly status: 'thread-lost';
  readonly reason: string;
  /** Where the plan's code ended it. */
  readonly thrown?: ThrownPlace;
}

export interface PlanSeatsOptions {
  readonly timers: Timers;
  readonly threadTime: ThreadTime | undefined;
  /** How many threads share the runs of one plan, and how many empty ones are kept. */
  readonly threads: number;
  readonly beatMs: number;
  /** How long a shared thread may stay silent. */
  readonly sharedSilenceMs: number;
  readonly memoryMb: number;
  readonly cacheDirectory: string | undefined;
  readonly secrets: SharedSecrets | undefined;
  readonly launch?: Launch | undefined;
}

export function createPlanSeats(newHost: (seat: () => Seat) => ThreadHost, options: PlanSeatsOptions): PlanSeats {
  const { timers, threadTime, threads, beatMs, memoryMb, cacheDirectory, secrets, launch } = options;
  const seats = new Set<Seat>();
  let isClosed = false;
  let warmed: Seat | undefined;

  function newSeat(isOwn: boolean): Seat {
    const busy: Seat['busy'] = new Map();
    const silenceMs = () => {
      const [alone = Number.POSITIVE_INFINITY] = busy.values();
      return busy.size > 1 ? options.sharedSilenceMs : alone;
    };
    const thread = startPlanThread(
      newHost(() => seat),
      { timers, threadTime, beatMs, silenceMs, memoryMb, cacheDirectory, secrets, launch },
    );
    const lost = thread.gone.then(reason => {
      seats.delete(seat);
      return { reason, wasShared: busy.size > 1 };
    });
    const seat: Seat = { thread, busy, isOwn, lost };
    seats.add(seat);
    return seat;
  }

  const open = () => [...seats].filter(({ isOwn, thread }) => !isOwn && !thread.isSilent);

  /** A thread that has run no code yet. */
  const fresh = () => open().find(({ isUsed, busy }) => isUsed !== true && busy.size === 0) ?? newSeat(false);

  /** Used threads without occupants; the oldest end if there are too many. */
  function tidy(): void {
    const idle = [...seats].filter(seat => !seat.isOwn && seat.busy.size === 0 && seat.isUsed === true);
    for (const { thread } of idle.filter(({ plan }) => plan === undefined)) thread.end('nobody knows what it loaded');
    const kept = idle.filter(({ plan }) => plan !== undefined);
    for (const { thread } of kept.slice(0, Math.max(0, kept.length - threads))) thread.end('nobody is in it');
  }

  return {
    take(plan) {
      const same = plan === undefined ? [] : open().filter(seat => seat.plan === plan);
      const least = same.toSorted((a, b) => a.busy.size - b.busy.size)[0];
      if (least !== undefined && (least.busy.size === 0 || same.length >= threads)) return least;
      const seat = fresh();
      seat.isUsed = true;
      seat.plan = plan;
      return seat;
    },
    takeForFile(file) {
      const loading = open().find(seat => seat.plan === undefined && seat.file === file);
      if (loading !== undefined) return loading;
      const seat = fresh();
      seat.isUsed = true;
      seat.file = file;
      return seat;
    },
    takeOwn: () => newSeat(true),
    warm() {
      warmed = fresh();
    },
    warmed: () => (warmed?.isUsed === true || warmed?.thread.isSilent === true ? undefined : warmed),
    async work(seat, who, silenceMs, work) {
      seat.busy.set(who, silenceMs);
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof PortClosedError)) throw error;
        const { reason, wasShared } = await seat.lost;
        if ((wasShared || seat.isPardoned === true) && !isClosed) return undefined;
        return { status: 'thread-lost', reason, ...defined({ thrown: seat.thread.broke }) };
      } finally {
        seat.busy.delete(who);
        if (!isClosed) tidy();
      }
    },
    close() {
      isClosed = true;
      for (const { thread } of seats) thread.end('the program is ending');
    },
  };
}
