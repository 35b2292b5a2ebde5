import { Worker } from 'node:worker_threads';
import { connectPort, PortClosedError, type Remote } from '../threads/port-calls.ts';
import type { JournalWriter } from './journal-writer.ts';

/** What the thread is started with. */
export interface JournalThreadData {
  readonly dataDirectory: string;
}

/** Types are stripped where the sources run; the built program has its own entry beside it. */
const ENTRY = import.meta.url.endsWith('.ts') ? './journal-worker.ts' : './journal-worker.js';

/**
 * Writes in a thread of its own, which waits for the disk so that nobody else does. It is started when it is first needed, and not
 * again once it was closed: a thread that nobody ends keeps the process from ending.
 */
export function createJournalThread(dataDirectory: string): JournalWriter & { close(): Promise<void> } {
  let thread: { readonly worker: Worker; readonly calls: Remote<JournalWriter> } | undefined;
  let isClosed = false;

  function started(): NonNullable<typeof thread> {
    if (thread !== undefined) return thread;
    const worker = new Worker(new URL(ENTRY, import.meta.url), {
      workerData: { dataDirectory } satisfies JournalThreadData,
    });
    const calls = connectPort<JournalWriter>(worker, {});
    // Journals are copies: nothing is lost with the thread, and the next call has another one.
    worker.once('error', () => {});
    worker.once('exit', () => {
      calls.close();
      if (thread?.worker === worker) thread = undefined;
    });
    thread = { worker, calls };
    return thread;
  }

  return {
    async write(runs, most) {
      if (isClosed) return runs;
      try {
        return await started().calls.call('write', runs, most);
      } catch (error) {
        if (error instanceof PortClosedError) return runs;
        throw error;
      }
    },
    rewrite: run => started().calls.call('rewrite', run),
    async close() {
      isClosed = true;
      await thread?.worker.terminate();
    },
  };
}
