/** The entry of the thread that writes journals and logs. It reads the database beside its owner. */
import path from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { Bug } from '@signalbox/model';
import { openReader } from '@signalbox/store';
import { createRunLogWriter } from '../logs/run-log-writer.ts';
import { filterOf } from '../secrets/open-secrets.ts';
import { connectPort } from '../threads/port-calls.ts';
import type { JournalWorkerData } from './journal-thread.ts';
import { createJournalWriter } from './journal-writer.ts';

if (parentPort === null) throw new Bug('this is the entry of a thread');
const { dataDirectory, logs, secrets, ending } = workerData as JournalWorkerData;
const isEnding = () => Atomics.load(ending, 0) === 1;
const reader = openReader({ path: path.join(dataDirectory, 'db.sqlite') });
if (!reader.ok) throw new Error(reader.error.message);
const { data: clean } = filterOf(secrets);
connectPort(parentPort, {
  ...createJournalWriter(dataDirectory, reader.value, isEnding),
  ...createRunLogWriter({ ...logs, reader: reader.value, dataDirectory, clean, isEnding }),
});
