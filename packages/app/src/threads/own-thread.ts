import { openPlanThreads, type PlanThreads, type PlanThreadsOptions } from './plan-threads.ts';

export interface OwnThreadOptions extends Omit<PlanThreadsOptions, 'threads' | 'warm'> {
  /** Ends the thread, whatever it does. */
  readonly signal?: AbortSignal | undefined;
}

/** Asks something of a thread that nothing else uses, and that ends with the answer. Nothing durable can be asked from in it. */
export async function inOwnThread<T>(
  { signal, ...options }: OwnThreadOptions,
  ask: (threads: PlanThreads) => Promise<T>,
): Promise<T> {
  const threads = openPlanThreads(() => ({ calls: {} as never, lost() {} }), { ...options, threads: 1 });
  const end = () => threads.close();
  signal?.addEventListener('abort', end, { once: true });
  try {
    const asked = ask(threads);
    if (signal?.aborted === true) end();
    return await asked;
  } finally {
    signal?.removeEventListener('abort', end);
    end();
  }
}
