import type { Worker } from 'node:worker_threads';
import { basicEnvironment } from './basic-environment.ts';
import type { ThreadData } from './thread-api.ts';

/** What the program did before it loaded its command. */
export interface Launch {
  /** Where compiled code of the program may be cached. */
  readonly codeDirectory?: string | undefined;
  /** A plan thread that was started ahead, once. */
  takeWorker?(): Worker | undefined;
}

export const MEMORY_MB = 1024;
/** Young objects become old together. If that exceeds the limit by more than V8 tolerates, V8 ends the whole process. */
const YOUNG_MB = 12;

/** Sources run with stripped types; the built program has its own entry beside it. */
const ENTRY = import.meta.url.endsWith('.ts') ? './plan-worker.ts' : './plan-worker.js';

/** Starts a thread that loads our code and waits for more. It does not keep the process alive until it gets a request. */
export function startPlanWorker(memoryMb: number, codeDirectory: string | undefined): Worker {
  // Here and not at the top: most programs that can start a thread start none.
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  const worker = new Worker(new URL(ENTRY, import.meta.url), {
    // A plan's code sees neither the environment nor the arguments of the process.
    argv: [],
    env: basicEnvironment(process.env),
    workerData: { memoryMb, codeDirectory } satisfies ThreadData,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_MB },
  });
  // It may be lost before anybody uses it.
  worker.on('error', () => {});
  worker.unref();
  return worker;
}

/** Starts the first thread of a process ahead of everything else. */
export function launchAhead(codeDirectory: string | undefined): Launch {
  let ahead: Worker | undefined = startPlanWorker(MEMORY_MB, codeDirectory);
  ahead.once('exit', () => {
    ahead = undefined;
  });
  return {
    codeDirectory,
    takeWorker() {
      const taken = ahead;
      ahead = undefined;
      return taken;
    },
  };
}
