/**
 * The entry of the thread that writes journals and logs. It reads the database beside its owner, and answers one call after another: while
 * it rewrites something without a secret, nothing else is written.
 */
import { setPriority } from 'node:os';
import path from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { Bug } from '@signalbox/model';
import { findInIndex, openReader, removeSearchFile } from '@signalbox/store';
import { createRunLogWriter } from '../logs/run-log-writer.ts';
import { secretSearch } from '../redact/secret-files.ts';
import { refreshSearch, searchFile } from '../search/refresh-search.ts';
import { filterOf } from '../secrets/open-secrets.ts';
import { connectPort } from '../threads/port-calls.ts';
import type { DerivedWriter, JournalWorkerData } from './journal-thread.ts';
import { createJournalWriter } from './journal-writer.ts';

if (parentPort === null) throw new Bug('this is the entry of a thread');
// Steps of runs have priority if processors are few. On other platforms the priority of a thread is that of its whole process.
if (process.platform === 'linux') setPriority(5);
const { dataDirectory, logs, secrets, ending, keepCode } = workerData as JournalWorkerData;
const isEnding = () => Atomics.load(ending, 0) === 1;
const reader = openReader({ path: path.join(dataDirectory, 'db.sqlite') });
if (!reader.ok) throw new Error(reader.error.message);
const { data: clean } = filterOf(secrets);
let last: Promise<unknown> = Promise.resolve();

/** Starts a call when the previous one has ended. */
function inTurn<Args extends readonly unknown[], T>(act: (...args: Args) => Promise<T>): (...args: Args) => Promise<T> {
  return (...args) => {
    const done = last.then(() => act(...args));
    last = done.catch(() => {});
    return done;
  };
}

const { behind, write, rewrite } = createJournalWriter(dataDirectory, reader.value, isEnding);
const writer = createRunLogWriter({ ...logs, reader: reader.value, dataDirectory, clean, isEnding });
const { filesWith } = secretSearch(dataDirectory);
connectPort(parentPort, {
  behind: inTurn(behind),
  write: inTurn(async (...args: Parameters<typeof write>) => {
    const left = await write(...args);
    keepCode?.();
    return left;
  }),
  rewrite: inTurn(rewrite),
  behindLogs: inTurn(writer.behindLogs),
  writeLogs: inTurn(writer.writeLogs),
  restLogs: inTurn(writer.restLogs),
  redactLogs: inTurn(writer.redactLogs),
  filesWith: inTurn(filesWith),
  refreshSearch: inTurn(() => refreshSearch({ dataDirectory, reader: reader.value, isEnding })),
  // Not in turn: a search does not wait for journals.
  find: async query => findInIndex({ path: searchFile(dataDirectory) }, query),
  dropSearch: inTurn(async () => removeSearchFile(searchFile(dataDirectory))),
} satisfies DerivedWriter);
