import { Worker } from 'node:worker_threads';
import { err, type RunId } from '@signalbox/model';
import type { LogSettings } from '../logs/log-config.ts';
import type { RunLogWriter } from '../logs/run-log-writer.ts';
import type { SecretSearch } from '../redact/secret-files.ts';
import type { SharedSecrets } from '../secrets/open-secrets.ts';
import { connectPort, PortClosedError, type Remote } from '../threads/port-calls.ts';
import type { JournalWriter } from './journal-writer.ts';
import { notRewritten } from './rewrite-journal.ts';

/** What the thread is started with. */
export interface JournalThreadData {
  readonly dataDirectory: string;
  readonly logs?: LogSettings | undefined;
  /** What no line of a log holds. */
  readonly secrets?: SharedSecrets | undefined;
  /** Where compiled code of ours may be kept. */
  readonly codeDirectory?: string | undefined;
}

/** The same, with what tells the thread, while it writes, that the process ends: 1 in the first place. */
export interface JournalWorkerData extends JournalThreadData {
  readonly ending: Int32Array<SharedArrayBuffer>;
  /** Keeps our code as it is compiled by now. The built entry gives it. */
  readonly keepCode?: () => void;
}

/** Writes what follows from commits: journals and logs. */
export type DerivedWriter = JournalWriter & RunLogWriter & SecretSearch;

/** The same in a thread of its own. */
export interface DerivedThread extends DerivedWriter {
  isStarted(): boolean;
  /** From now on only what is short is written: the next process writes the rest. */
  end(): void;
  close(): Promise<void>;
}

/** Types are stripped where the sources run; the built program has its own entry beside it. */
const ENTRY = import.meta.url.endsWith('.ts') ? './journal-worker.ts' : './journal-worker.js';

/**
 * Writes in a thread of its own, which waits for the disk so that nobody else does. It is started when it is first needed, and not
 * again once it was closed: a thread that nobody ends keeps the process from ending.
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
    // Journals and logs are copies: nothing is lost with the thread, and the next call has another one.
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

  /** Runs that lack something; nobody looks once the process ends. */
  async function askedFor(name: 'behind' | 'behindLogs'): Promise<readonly RunId[]> {
    try {
      return await open().calls.call(name);
    } catch (error) {
      if (error instanceof PortClosedError) return [];
      throw error;
    }
  }

  return {
    isStarted: () => thread !== undefined,
    end: () => void Atomics.store(ending, 0, 1),
    behind: () => askedFor('behind'),
    behindLogs: () => askedFor('behindLogs'),
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
    redactLogs: async (runs, secret) => open().calls.call('redactLogs', runs, secret),
    filesWith: async (folder, secret) => open().calls.call('filesWith', folder, secret),
    async close() {
      isClosed = true;
      await thread?.worker.terminate();
    },
  };
}
