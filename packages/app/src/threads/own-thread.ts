import { openPlanThreads, type PlanThreads, type PlanThreadsOptions, type ThreadLost } from './plan-threads.ts';

export interface OwnThreadOptions extends Omit<PlanThreadsOptions, 'threads' | 'warm'> {
  /** Ends the thread, whatever it does. */
  readonly signal?: AbortSignal | undefined;
}

/** Makes a request to a dedicated thread that ends with the answer. Nothing durable can be requested in it. */
export async function inOwnThread<T>(
  { signal, ...options }: OwnThreadOptions,
  ask: (threads: PlanThreads) => Promise<T | ThreadLost>,
): Promise<T | ThreadLost> {
  if (signal?.aborted === true) return { status: 'thread-lost', reason: 'nobody waits for it any more' };
  const threads = openPlanThreads(() => ({ calls: {} as never, lost: async () => {} }), { ...options, threads: 1 });
  const end = () => threads.close();
  signal?.addEventListener('abort', end, { once: true });
  try {
    return await ask(threads);
  } finally {
    signal?.removeEventListener('abort', end);
    end();
  }
}
