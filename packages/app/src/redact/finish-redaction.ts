import { rmSync } from 'node:fs';
import path from 'node:path';
import {
  type Digest,
  type ErrorEnvelope,
  type EventId,
  err,
  failure,
  ok,
  type RedactionReport,
  type Result,
  type RunId,
} from '@signalbox/model';
import type { Store } from '@signalbox/store';
import type { Machine } from '../machine.ts';
import { textsOf } from '../retention/run-folders.ts';
import type { DerivedWriter } from '../run-journal/journal-thread.ts';
import type { Secrets, SharedSecrets } from '../secrets/open-secrets.ts';
import { PortClosedError } from '../threads/port-calls.ts';
import { onlyThis, rewriteLog, type SecretFile, secretSearch } from './secret-files.ts';
import { type RedactionNote, removeNote } from './taking-note.ts';

export interface RedactionPorts {
  readonly store: Store;
  readonly dataDirectory: string;
  readonly machine: Machine;
  readonly secrets: { readonly shared: Pick<Secrets['shared'], 'key'> };
  readonly rewriteJournal: (run: RunId) => Promise<Result<void, ErrorEnvelope>>;
  /** The writer of journals and logs: nobody else changes them. */
  readonly derived: Pick<DerivedWriter, 'redactLogs' | 'filesWith' | 'dropSearch'>;
}

/** Places that no command of this program reaches. */
export const OUTSIDE: readonly string[] = [
  'exported bundles',
  'backups of the data directory',
  'copies of journals and logs',
  'data sent to agents and tools',
];

/** How often to wait for all reads to end, and how long. */
const TRIES = 100;
const WAIT_MS = 50;

/**
 * Removes a secret from everything that a note names, resuming at any point: every step can be repeated.
 *
 * 1. Logs and rows, one transaction for each run. Then everything derived from them: journals, logs of runs, contents. The thread that
 *    writes journals and logs rewrites them, between two writes.
 * 2. Then the freed space is overwritten, in the database and in its write-ahead log.
 * 3. The note is removed last. Until then the next owner of the data directory resumes here.
 */
export async function finishRedaction(
  ports: RedactionPorts,
  note: RedactionNote,
): Promise<Result<RedactionReport, ErrorEnvelope>> {
  try {
    return await redactAll(ports, note);
  } catch (thrown) {
    if (thrown instanceof PortClosedError) return err(cutOff());
    throw thrown;
  }
}

async function redactAll(ports: RedactionPorts, note: RedactionNote): Promise<Result<RedactionReport, ErrorEnvelope>> {
  const { store, dataDirectory, machine, rewriteJournal, derived } = ports;
  const { runs, name, at, by, why } = note;
  const secret = secretOf(ports, note);
  const filter = onlyThis(secret);
  const changed: RedactionReport['runs'][number][] = [];
  for (const run of runs) {
    const done = store.takenAway.redact(run, { at, by, why, name, filter, eventId: machine.ids.mint<EventId>() });
    if (!done.ok && done.error.code !== 'store/damaged' && done.error.code !== 'run/unknown') return done;
    if (done.ok) changed.push({ run, records: done.value.records, tokens: done.value.hadDeltas === true });
  }
  for (const run of runs) {
    const written = await rewriteJournal(run);
    if (!written.ok) return written;
  }
  const logs = (await cleanHostLog(dataDirectory, secret)) + (await derived.redactLogs(runs, secret));
  // It has copies of what it finds.
  await derived.dropSearch();
  const blobs = await removeBlobs(ports, secret);
  for (const file of readable(await derived.filesWith('cache', secret)))
    rmSync(path.join(dataDirectory, file), { force: true });
  for (let tries = 0; !store.takenAway.scrub(); tries++) {
    if (tries >= TRIES) return err(stillRead());
    await new Promise(resolve => setTimeout(resolve, WAIT_MS));
  }
  const left = await leftIn(ports, secret);
  removeNote(dataDirectory);
  return ok({ dryRun: false, name, runs: changed, blobs, logs, left, outside: OUTSIDE });
}

/** Only the secret of a note. */
export function secretOf(
  { secrets }: Pick<RedactionPorts, 'secrets'>,
  { known }: Pick<RedactionNote, 'known'>,
): SharedSecrets {
  return { key: secrets.shared.key, known };
}

/** This thread writes the process's log, a line at a time, so nothing comes between reading and rewriting a file of it. */
async function cleanHostLog(dataDirectory: string, secret: SharedSecrets): Promise<number> {
  const files = readable(await secretSearch(dataDirectory).filesWith('logs', secret));
  for (const file of files) rewriteLog(path.join(dataDirectory, file), onlyThis(secret));
  return files.length;
}

const readable = (found: readonly SecretFile[]): readonly string[] =>
  found.flatMap(({ file, fault }) => (fault === undefined ? file : []));

/** Contents that hold it and are no longer needed. They are removed however young they are. */
async function removeBlobs({ dataDirectory, store, derived }: RedactionPorts, secret: SharedSecrets): Promise<number> {
  const found = readable(await derived.filesWith('blobs', secret));
  if (found.length === 0) return 0;
  const needed = store.retention.referenced(textsOf(dataDirectory, new Set()));
  const going = found.filter(file => !needed.has(path.basename(file)));
  for (const file of going) {
    rmSync(path.join(dataDirectory, file), { force: true });
    store.forgetBlob(`sha256:${path.basename(file)}` as Digest);
  }
  return going.length;
}

/** Where it remains. Changes nothing. */
export async function leftIn(
  { store, derived }: Pick<RedactionPorts, 'store' | 'derived'>,
  secret: SharedSecrets,
): Promise<RedactionReport['left']> {
  const runs = store.takenAway.holders(onlyThis(secret)).map(run => ({ where: `run ${run}`, why: whyOfRun }));
  const files = (await derived.filesWith('.', secret)).map(({ file, fault }) => ({
    where: file,
    why: fault === undefined ? whyOf(file) : `it cannot be read (${fault}); check it yourself`,
  }));
  return [...runs, ...files];
}

const whyOfRun = "another run, or this run's working directory: redact that run, or rename the directory";

function whyOf(file: string): string {
  const [folder = ''] = file.split(path.sep);
  switch (folder) {
    case 'blobs':
      return 'a file that a workspace snapshot, a checkpoint or a session still needs';
    case 'checkpoints':
    case 'undo':
      return 'a file as it was before a tool call; it is removed with its run';
    case 'sessions':
    case 'snapshots':
    case 'workflows':
      return 'a guided session, whose journal cannot be changed; delete the session';
    case 'workspaces':
      return "a file in a run's workspace; remove it there";
    case 'runs':
      return 'the journal or log of another run: redact that run';
    default:
      return 'a file that belongs to no run; remove it if nothing needs it';
  }
}

function cutOff(): ErrorEnvelope<'STORE_IO_FAILED'> {
  return failure('STORE_IO_FAILED', {
    message: 'The redaction was interrupted: the log writer thread ended.',
    suggestion: 'Redact again, or let the next owner finish it when it starts.',
    retry: { kind: 'retryable_immediate' },
  });
}

function stillRead(): ErrorEnvelope<'STORE_IO_FAILED'> {
  return failure('STORE_IO_FAILED', {
    message:
      'The secret was removed from the runs, but is still on disk because a process still reads an older state of the database.',
    suggestion:
      'Close programs that read the data directory and redact again, or let the next owner finish it when it starts.',
    retry: { kind: 'retryable_immediate' },
  });
}
