import { Worker } from 'node:worker_threads';
import { err, type FindQuery } from '@signalbox/model';
import type { Found } from '@signalbox/store';
import type { LogSettings } from '../logs/log-config.ts';
import type { RunLogWriter } from '../logs/run-log-writer.ts';
import type { SecretSearch } from '../redact/secret-files.ts';
import type { SharedSecrets } from '../secrets/open-secrets.ts';
import { connectPort, PortClosedError, type Remote } from '../threads/port-calls.ts';
import type { JournalWriter } from './journal-writer.ts';
import { notRewritten } from './rewrite-journal.ts';

/** The start data of the thread. */
export interface JournalThreadData {
  readonly dataDirectory: string;
  readonly logs?: LogSettings | undefined;
  /** Values that must not appear in a log line. */
  readonly secrets?: SharedSecrets | undefined;
  /** Where our compiled code may be cached. */
  readonly codeDirectory?: string | undefined;
}

/** The same, with a flag that tells the thread, while it writes, that the process ends: 1 in the first place. */
export interface JournalWorkerData extends JournalThreadData {
  readonly ending: Int32Array<SharedArrayBuffer>;
  /** Caches our compiled code. Supplied by the built entry. */
  readonly keepCode?: () => void;
}

/** Writes what derives from commits: journals, logs and the search index. */
export type DerivedWriter = JournalWriter &
  RunLogWriter &
  SecretSearch & {
    /** Brings the search index up to date. Returns how many runs and sessions are left. */
    refreshSearch(): Promise<number>;
    find(query: FindQuery): Promise<Found>;
    /** Deletes the index. The next refresh makes it again. */
    dropSearch(): Promise<void>;
  };

/** The same in its own thread. */
export interface DerivedThread extends DerivedWriter {
  isStarted(): boolean;
  /** From now on only short writes are done: the next process does the rest. */
  end(): void;
  close(): Promise<void>;
}

/** Sources run with stripped types; the built program has its own entry beside it. */
const ENTRY = import.meta.url.endsWith('.ts') ? './journal-worker.ts' : './journal-worker.js';

/**
 * Writes in a separate thread, so that only that one waits for the disk. It is started on first use, and not again once it was closed: a
 * thread that nobody ends keeps the process alive.
 */
export function createJournalThread(data: JournalThreadData): DerivedThread {
  let thread: { readonly worker: Worker; readonly calls: Remote<DerivedWriter> } | undefined;
  let isClosed = false;
  const ending = new Int32Array(new SharedArrayBuffer(4));

  function started(): NonNullable<typeof thread> {
    if (thread !== undefined) return thread;
    const worker = new Worker(new URL(ENTRY, import.meta.url), {
      workerData: { ...data, ending } satisfies JournalWorkerData,
    });
    const calls = connectPort<DerivedWriter>(worker, {});
    // Journals and logs are copies: nothing is lost with the thread, and the next call gets a new one.
    worker.once('error', () => {});
    worker.once('exit', () => {
      calls.close();
      if (thread?.worker === worker) thread = undefined;
    });
    thread = { worker, calls };
    return thread;
  }

  function open(): NonNullable<typeof thread> {
    if (isClosed) throw new PortClosedError('the process ends');
    return started();
  }

  /** Runs with missing records; not checked once the process ends. */
  async function askedFor<Id>(ask: (calls: Remote<DerivedWriter>) => Promise<readonly Id[]>): Promise<readonly Id[]> {
    try {
      return await ask(open().calls);
    } catch (error) {
      if (error instanceof PortClosedError) return [];
      throw error;
    }
  }

  return {
    isStarted: () => thread !== undefined,
    end: () => void Atomics.store(ending, 0, 1),
    behind: () => askedFor(calls => calls.call('behind')),
    behindLogs: () => askedFor(calls => calls.call('behindLogs')),
    async write(runs, most) {
      if (isClosed) return runs;
      try {
        return await started().calls.call('write', runs, most);
      } catch (error) {
        if (error instanceof PortClosedError) return runs;
        throw error;
      }
    },
    async writeLogs(runs) {
      if (isClosed) return { left: runs };
      try {
        return await started().calls.call('writeLogs', runs);
      } catch (error) {
        if (error instanceof PortClosedError) return { left: runs };
        throw error;
      }
    },
    restLogs: async () => (thread === undefined ? { left: [] } : thread.calls.call('restLogs')),
    async rewrite(run) {
      try {
        return await open().calls.call('rewrite', run);
      } catch (error) {
        if (error instanceof PortClosedError) return err(notRewritten(run, 'the process ends'));
        throw error;
      }
    },
    refreshSearch: async () => open().calls.call('refreshSearch'),
    find: async query => open().calls.call('find', query),
    dropSearch: async () => open().calls.call('dropSearch'),
    redactLogs: async (runs, secret) => open().calls.call('redactLogs', runs, secret),
    filesWith: async (folder, secret) => open().calls.call('filesWith', folder, secret),
    async close() {
      isClosed = true;
      await thread?.worker.terminate();
    },
  };
}
