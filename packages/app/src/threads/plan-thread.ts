import { Worker } from 'node:worker_threads';
import { thrownMessage } from '@signalbox/model';
import type { Timers } from '@signalbox/plan';
import type { SharedSecrets } from '../secrets/open-secrets.ts';
import { basicEnvironment } from './plan-environment.ts';
import { connectPort, type Remote } from './port-calls.ts';
import type { ThreadCalls, ThreadData, ThreadHost } from './thread-api.ts';

/** A thread that drives runs, and how long it has not answered. */
export interface PlanThread {
  readonly calls: Remote<ThreadCalls>;
  /** Resolves once, with why, when nothing can be asked of the thread any more. */
  readonly gone: Promise<string>;
  /** Whether it is ending, or has answered before and is silent now. */
  readonly isSilent: boolean;
  /** Whether it answers within this time. */
  answers(ms: number): Promise<boolean>;
  /** Ends it, whatever it does. */
  end(why: string): void;
}

export interface ThreadOptions {
  readonly timers: Timers;
  /** How often it is asked for a sign of life. */
  readonly beatMs: number;
  /** How long it may stay silent now. */
  readonly silenceMs: () => number;
  readonly memoryMb: number;
  readonly cacheDirectory: string | undefined;
  readonly secrets: SharedSecrets | undefined;
}

/** Between two looks at the memory of a thread. */
const LOOK_MS = 100;
const MB = 1024 * 1024;
/** Objects that are young become old together. If that exceeds the limit by more than V8 tolerates, V8 ends the whole process. */
const YOUNG_MB = 12;

/** Types are stripped where the sources run; the built program has its own entry beside it. */
const ENTRY = import.meta.url.endsWith('.ts') ? './plan-worker.ts' : './plan-worker.js';

export function startPlanThread(host: ThreadHost, options: ThreadOptions): PlanThread {
  const worker = new Worker(new URL(ENTRY, import.meta.url), {
    // A plan's code sees neither the environment nor the arguments of the process.
    argv: [],
    env: basicEnvironment(process.env),
    workerData: {
      cacheDirectory: options.cacheDirectory,
      memoryMb: options.memoryMb,
      secrets: options.secrets,
    } satisfies ThreadData,
    resourceLimits: { maxOldGenerationSizeMb: options.memoryMb, maxYoungGenerationSizeMb: YOUNG_MB },
  });
  const calls = connectPort<ThreadCalls>(worker, host.calls);
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
      resolve(reason ?? `it ended by itself with ${code}`);
      calls.close();
      host.lost();
    });
  });
  const end = (why: string) => {
    reason ??= why;
    void worker.terminate();
  };

  /** V8 bounds what a thread has in objects. It counts buffers and does not bound them. */
  const look = () => {
    cancelLook = options.timers.after(LOOK_MS, async () => {
      // A thread that is starting, or gone, has none.
      const used = await worker.getHeapStatistics().catch(() => undefined);
      if (isGone || reason !== undefined) return;
      if (used === undefined) return look();
      const [buffers, all] = [used.external_memory / MB, (used.external_memory + used.used_heap_size) / MB];
      // Objects that nobody needs any more are among those that are counted: together they may be half as many again.
      if (buffers > options.memoryMb || all > options.memoryMb * 1.5)
        return end(`its buffers took ${Math.round(buffers)} MB of memory, and ${options.memoryMb} MB is the limit`);
      look();
    });
  };
  look();

  let isUp = false;
  let silentMs = 0;
  const beat = () => {
    let answered = false;
    calls.call('ping').then(
      () => {
        answered = true;
        isUp = true;
        silentMs = 0;
      },
      () => undefined,
    );
    cancelBeat = options.timers.after(options.beatMs, () => {
      // A thread that is starting is not silent.
      silentMs = answered || !isUp ? 0 : silentMs + options.beatMs;
      if (silentMs >= options.silenceMs()) end(`it did not answer for ${silentMs / 1000} s`);
      else beat();
    });
  };
  beat();
  return {
    calls,
    gone,
    end,
    get isSilent() {
      return silentMs > 0 || reason !== undefined;
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
