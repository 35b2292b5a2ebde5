import type { Worker } from 'node:worker_threads';
import { type ThrownPlace, thrownMessage, thrownPlace } from '@signalbox/model';
import type { Timers } from '@signalbox/plan';
import type { SharedSecrets } from '../secrets/open-secrets.ts';
import { type Launch, MEMORY_MB, startPlanWorker } from './plan-worker-start.ts';
import { connectPort, type Remote } from './port-calls.ts';
import type { ThreadCalls, ThreadHost } from './thread-api.ts';

/**
 * A thread that drives runs, and how long it has not answered.
 *
 * That is measured in the time that the thread has had: computing, or idle. A machine that is busy with other programs gives it neither, so
 * an innocent plan is not given up there. Other time, in which the thread waits for the processor or for a blocking call, counts for a
 * twentieth.
 */
export interface PlanThread {
  readonly calls: Remote<ThreadCalls>;
  /** Resolves once, with the reason, when the thread can no longer be used. */
  readonly gone: Promise<string>;
  /** Where the code of a plan ended it, if that is known. */
  readonly broke: ThrownPlace | undefined;
  /** Whether it is ending, or has answered before and is silent now. */
  readonly isSilent: boolean;
  /** Whether it answers within this time. */
  answers(ms: number): Promise<boolean>;
  /** Ends it unless the returned function is called before the thread has had this much time. */
  limit(ms: number, why: string): () => void;
  /** Ends it, whatever it does. */
  end(why: string): void;
}

export interface ThreadOptions {
  readonly timers: Timers;
  /** The time that a thread has had, in milliseconds; undefined while it cannot be determined. */
  readonly threadTime?: ThreadTime | undefined;
  /** How often it is asked for a sign of life. */
  readonly beatMs: number;
  /** How long it may currently stay silent. */
  readonly silenceMs: () => number;
  readonly memoryMb: number;
  readonly cacheDirectory: string | undefined;
  readonly secrets: SharedSecrets | undefined;
  readonly launch?: Launch | undefined;
}

export type ThreadTime = (worker: Worker) => Promise<number | undefined>;

/** Works whatever the thread does: V8 interrupts it between two instructions. */
export const threadTime: ThreadTime = async worker => {
  const cpu = await worker.cpuUsage().catch(() => undefined);
  return cpu && (cpu.user + cpu.system) / 1000 + worker.performance.eventLoopUtilization().idle;
};

/** The share that counts of time in which a thread neither computed nor was idle. */
const UNUSED_SHARE = 1 / 20;
/** Between two checks of a thread's memory. */
const LOOK_MS = 100;
const MB = 1024 * 1024;

export function startPlanThread(host: ThreadHost, options: ThreadOptions): PlanThread {
  const { launch, memoryMb, cacheDirectory, secrets } = options;
  const ahead = memoryMb === MEMORY_MB ? launch?.takeWorker?.() : undefined;
  const worker = ahead ?? startPlanWorker(memoryMb, launch?.codeDirectory);
  worker.ref();
  let broke: ThrownPlace | undefined;
  const dying = (place: unknown) => {
    const read = thrownPlace.safeParse(place);
    if (read.success) broke = read.data;
  };
  const calls = connectPort<ThreadCalls>(worker, { ...host.calls, dying });
  calls.tell('begin', { cacheDirectory, secrets });
  let reason: string | undefined;
  let cancelBeat: (() => void) | undefined;
  let cancelLook: (() => void) | undefined;
  let isGone = false;
  const gone = new Promise<string>(resolve => {
    worker.once('error', (error: unknown) => {
      reason ??= thrownMessage(error);
    });
    worker.once('exit', code => {
      cancelBeat?.();
      isGone = true;
      cancelLook?.();
      const why = reason ?? `it ended by itself with ${code}`;
      reason = why;
      calls.close();
      // What it sent last is stored before its runs continue elsewhere.
      void host.lost().then(() => resolve(why));
    });
  });
  const end = (why: string) => {
    reason ??= why;
    void worker.terminate();
  };

  /** V8 bounds a thread's objects. It counts buffers but does not bound them. */
  const look = () => {
    cancelLook = options.timers.after(LOOK_MS, async () => {
      // A thread that is starting, or gone, has none.
      const used = await worker.getHeapStatistics().catch(() => undefined);
      if (isGone || reason !== undefined) return;
      if (used === undefined) return look();
      const [buffers, all] = [used.external_memory / MB, (used.external_memory + used.used_heap_size) / MB];
      // The count includes garbage: together they may be half as many again.
      if (buffers > options.memoryMb || all > options.memoryMb * 1.5)
        return end(`its buffers took ${Math.round(buffers)} MB of memory, and ${options.memoryMb} MB is the limit`);
      look();
    });
  };
  look();

  let isUp = false;
  let isLate = false;
  let countedMs = 0;
  let answeredMs = 0;
  let usedMs: number | undefined;
  const limits = new Set<{ readonly atMs: number; readonly why: string }>();

  /** Asks how much time the thread has had since the last call, without waiting for the answer. */
  const count = () => {
    countedMs += options.beatMs * UNUSED_SHARE;
    void (options.threadTime ?? threadTime)(worker).then(ms => {
      if (ms !== undefined && usedMs !== undefined)
        countedMs += Math.max(0, ms - usedMs - options.beatMs * UNUSED_SHARE);
      usedMs = ms ?? usedMs;
    });
  };
  const beat = () => {
    let answered = false;
    calls.call('ping').then(
      () => {
        answered = true;
        isUp = true;
        answeredMs = countedMs;
      },
      () => undefined,
    );
    cancelBeat = options.timers.after(options.beatMs, () => {
      count();
      // A thread that is starting is not silent.
      isLate = !answered && isUp;
      if (!isLate) answeredMs = countedMs;
      const silentMs = countedMs - answeredMs;
      const reached = [...limits].find(({ atMs }) => countedMs >= atMs);
      if (reached !== undefined) end(reached.why);
      else if (silentMs >= options.silenceMs()) end(`it did not answer for ${Math.round(silentMs / 100) / 10} s`);
      else beat();
    });
  };
  beat();
  return {
    calls,
    gone,
    end,
    get broke() {
      return broke;
    },
    get isSilent() {
      return isLate || reason !== undefined;
    },
    limit(ms, why) {
      const limit = { atMs: countedMs + ms, why };
      limits.add(limit);
      return () => void limits.delete(limit);
    },
    answers(ms) {
      return new Promise(resolve => {
        const cancel = options.timers.after(ms, () => resolve(false));
        const answered = () => {
          cancel();
          resolve(true);
        };
        calls.call('ping').then(answered, answered);
      });
    },
  };
}
