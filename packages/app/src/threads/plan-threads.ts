import type { ErrorEnvelope, Json, Result, RunId } from '@signalbox/model';
import type { CommandAnswer, PlanOutline, PlanPreview, SignalFault, Timers } from '@signalbox/plan';
import type { StopVerdict } from '@signalbox/runs';
import type { ReplayJob, RunReplay } from '../replay/replay-job.ts';
import type { RunReport, VerifyJob } from '../run-journal/verify-run.ts';
import { type PlanThread, startPlanThread } from './plan-thread.ts';
import { PortClosedError } from './port-calls.ts';
import type { DriveEnd, DriveJob, PlanFacts, PlanSource, RunCommand, ThreadHost } from './thread-api.ts';

/**
 * The threads that drive the runs of a process, many runs each.
 *
 * T1  A thread that spins, dies or runs out of memory is replaced. Its runs go on, each in a thread of its own.
 * T2  A run whose thread is gone while it was alone in it is to blame, and is given back with the reason.
 * T3  What a run committed is all that is taken along: it goes on as after a crash.
 */
export interface PlanThreads {
  load(source: PlanSource, input: Json): Promise<Result<PlanFacts, ErrorEnvelope> | ThreadLost>;
  describe(source: PlanSource): Promise<Result<PlanOutline, ErrorEnvelope> | ThreadLost>;
  preview(source: PlanSource, input: Json): Promise<Result<PlanPreview, ErrorEnvelope> | ThreadLost>;
  stateFault(
    source: PlanSource,
    key: string,
    value: Json | undefined,
  ): Promise<Result<string | undefined, ErrorEnvelope> | ThreadLost>;
  /** Why a run's plan does nothing with a signal. `source` is asked for where nobody drives the run. */
  signalFault(
    run: RunId,
    signal: { readonly name: string; readonly payload: Json },
    source: () => Promise<Result<PlanSource | undefined, ErrorEnvelope>>,
  ): Promise<Result<SignalFault | undefined, ErrorEnvelope> | ThreadLost>;
  /** Makes the frames of a recorded run again. */
  replay(job: ReplayJob): Promise<Result<readonly RunReplay[], ErrorEnvelope> | ThreadLost>;
  /** Checks the record of a run. */
  verify(job: VerifyJob): Promise<Result<RunReport, ErrorEnvelope> | ThreadLost>;
  /** `again` says with which job a run goes on that lost its thread. */
  drive(job: DriveJob, again: () => Promise<DriveJob>): Promise<DriveEnd | ThreadLost>;
  /** What became of the command; undefined where nobody drives the run. */
  command(run: RunId, command: RunCommand): Promise<CommandAnswer | undefined>;
  limit(run: RunId, verdict: StopVerdict): void;
  /** A run of a sub-plan is where its parent is. */
  adopt(run: RunId, parent: RunId, driven: boolean): void;
  progress(run: RunId, execution: string, progress: { readonly summary: string; readonly fraction?: number }): void;
  close(): void;
}

export interface ThreadLost {
  readonly status: 'thread-lost';
  readonly reason: string;
}

export interface PlanThreadsOptions {
  readonly timers: Timers;
  /** How many threads share the runs; runs that lost theirs have more. */
  readonly threads: number;
  readonly beatMs?: number;
  /** How long a thread with several runs may stay silent, and one with a single run. */
  readonly sharedSilenceMs?: number;
  readonly aloneSilenceMs?: number;
  readonly memoryMb?: number;
  /** Where compiled modules of plans are kept, if anywhere. */
  readonly cacheDirectory?: string | undefined;
  /** Starts a thread at once: one will be needed. */
  readonly warm?: boolean | undefined;
}

const BEAT_MS = 1000;
const SHARED_SILENCE_MS = 5000;
const ALONE_SILENCE_MS = 60_000;
const MEMORY_MB = 1024;

interface Seat {
  readonly thread: PlanThread;
  /** Runs that it drives, and loads that go on in it. */
  readonly busy: Set<RunId | symbol>;
  readonly alone: boolean;
  /** Why it was lost, and whether there was more than one in it then. */
  readonly lost: Promise<{ readonly reason: string; readonly wasShared: boolean }>;
}

export function openPlanThreads(newHost: () => ThreadHost, options: PlanThreadsOptions): PlanThreads {
  const { timers, threads, beatMs = BEAT_MS, memoryMb = MEMORY_MB, cacheDirectory } = options;
  const seats = new Set<Seat>();
  const seatOf = new Map<RunId, Seat>();
  let closed = false;

  function newSeat(alone: boolean): Seat {
    const busy = new Set<RunId | symbol>();
    const silenceMs = () =>
      busy.size > 1 ? (options.sharedSilenceMs ?? SHARED_SILENCE_MS) : (options.aloneSilenceMs ?? ALONE_SILENCE_MS);
    const thread = startPlanThread(newHost(), { timers, beatMs, silenceMs, memoryMb, cacheDirectory });
    const lost = thread.gone.then(reason => {
      seats.delete(seat);
      return { reason, wasShared: busy.size > 1 };
    });
    const seat: Seat = { thread, busy, alone, lost };
    seats.add(seat);
    return seat;
  }

  /** The shared thread with the fewest runs; a new one while there may be more. */
  function sharedSeat(): Seat {
    const shared = [...seats].filter(({ alone }) => !alone);
    const least = shared.toSorted((a, b) => a.busy.size - b.busy.size)[0];
    if (least === undefined || (least.busy.size > 0 && shared.length < threads)) return newSeat(false);
    return least;
  }

  /** Undefined where the thread was lost while this was not the only thing in it. */
  async function inSeat<T>(
    seat: Seat,
    who: RunId | symbol,
    work: () => Promise<T>,
  ): Promise<T | ThreadLost | undefined> {
    seat.busy.add(who);
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof PortClosedError)) throw error;
      const { reason, wasShared } = await seat.lost;
      return wasShared && !closed ? undefined : { status: 'thread-lost', reason };
    } finally {
      seat.busy.delete(who);
    }
  }

  async function drive(first: DriveJob, again: () => Promise<DriveJob>): Promise<DriveEnd | ThreadLost> {
    const { run } = first;
    let job = first;
    for (let alone = false; ; alone = true) {
      const seat = alone ? newSeat(true) : sharedSeat();
      seatOf.set(run, seat);
      const ended = await inSeat(seat, run, () => seat.thread.calls.call('drive', job));
      seatOf.delete(run);
      if (seat.alone) seat.thread.end('its run has ended');
      if (ended !== undefined) return ended;
      job = await again();
    }
  }

  /** Asks a shared thread; if that is lost to somebody else's fault, one of its own. */
  async function once<T>(ask: (seat: Seat) => Promise<T>): Promise<T | ThreadLost> {
    const who = Symbol('question');
    const shared = sharedSeat();
    const answer = await inSeat(shared, who, () => ask(shared));
    if (answer !== undefined) return answer;
    const own = newSeat(true);
    const second = await inSeat(own, who, () => ask(own));
    own.thread.end('it has answered');
    return second ?? { status: 'thread-lost', reason: (await own.lost).reason };
  }

  if (options.warm === true) newSeat(false);
  return {
    drive,
    replay: job => once(seat => seat.thread.calls.call('replay', job)),
    verify: job => once(seat => seat.thread.calls.call('verify', job)),
    describe: source => once(seat => seat.thread.calls.call('describe', source)),
    load: (source, input) => once(seat => seat.thread.calls.call('load', source, input)),
    preview: (source, input) => once(seat => seat.thread.calls.call('preview', source, input)),
    stateFault: (source, key, value) => once(seat => seat.thread.calls.call('stateFault', source, key, value)),
    async signalFault(run, { name, payload }, source) {
      const seat = seatOf.get(run);
      try {
        if (seat !== undefined) return await seat.thread.calls.call('signalFault', run, undefined, name, payload);
      } catch (error) {
        if (!(error instanceof PortClosedError)) throw error;
      }
      const kept = await source();
      if (!kept.ok) return kept;
      return once(({ thread }) => thread.calls.call('signalFault', run, kept.value, name, payload));
    },
    async command(run, command) {
      try {
        return await seatOf.get(run)?.thread.calls.call('command', run, command);
      } catch (error) {
        if (error instanceof PortClosedError) return 'over';
        throw error;
      }
    },
    limit(run, verdict) {
      seatOf.get(run)?.thread.calls.tell('limit', run, verdict);
    },
    adopt(run, parent, driven) {
      const seat = driven ? seatOf.get(parent) : undefined;
      if (seat === undefined) seatOf.delete(run);
      else seatOf.set(run, seat);
    },
    progress(run, execution, progress) {
      seatOf.get(run)?.thread.calls.tell('progress', execution, progress);
    },
    close() {
      closed = true;
      for (const { thread } of seats) thread.end('the program is ending');
    },
  };
}
