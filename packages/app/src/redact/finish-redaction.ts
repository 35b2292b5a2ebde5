import { rmSync } from 'node:fs';
import path from 'node:path';
import {
  createSecretFilter,
  type Digest,
  type ErrorEnvelope,
  type EventId,
  err,
  failure,
  ok,
  type RedactionReport,
  type Result,
  type RunId,
  type SecretFilter,
} from '@signalbox/model';
import type { Store } from '@signalbox/store';
import type { Machine } from '../machine.ts';
import { textsOf } from '../retention/run-folders.ts';
import type { Secrets } from '../secrets/open-secrets.ts';
import { filesWith, rewriteLog } from './secret-files.ts';
import { type RedactionNote, removeNote } from './taking-note.ts';

export interface RedactionPorts {
  readonly store: Store;
  readonly dataDirectory: string;
  readonly machine: Machine;
  readonly secrets: Pick<Secrets, 'mac'>;
  readonly rewriteJournal: (run: RunId) => Promise<Result<void, ErrorEnvelope>>;
}

/** What no command of this program reaches. */
export const OUTSIDE: readonly string[] = [
  'bundles that were exported',
  'backups of the data directory',
  'journals and logs that were copied elsewhere',
  'what agents and tools were sent',
];

/** How often the end of all reads is waited for, and for how long. */
const TRIES = 100;
const WAIT_MS = 50;

/**
 * Takes a secret out of everything that a note says, from wherever that stands: every step may be done again.
 *
 * 1. Logs and rows, one transaction for each run. Then what follows from them: journals, logs of runs, contents.
 * 2. Then the room that was freed is written over, in the database and in its write-ahead log.
 * 3. The note goes last. Until then the next owner of the data directory begins here.
 */
export async function finishRedaction(
  ports: RedactionPorts,
  note: RedactionNote,
): Promise<Result<RedactionReport, ErrorEnvelope>> {
  const { store, dataDirectory, machine, rewriteJournal } = ports;
  const { runs, name, at, by, why } = note;
  const filter = filterOf(ports.secrets, note);
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
  const longest = Math.max(...note.known.map(({ length }) => length));
  const places = { dataDirectory, filter, longest };
  const logs = cleanLogs(places, runs);
  const blobs = removeBlobs(places, store);
  for (const file of filesWith(dataDirectory, 'cache', filter, longest)) rmSync(path.join(dataDirectory, file));
  for (let tries = 0; !store.takenAway.scrub(); tries++) {
    if (tries >= TRIES) return err(stillRead());
    await new Promise(resolve => setTimeout(resolve, WAIT_MS));
  }
  const left = leftIn(places, store);
  removeNote(dataDirectory);
  return ok({ dryRun: false, name, runs: changed, blobs, logs, left, outside: OUTSIDE });
}

/** Knows the secret of a note, and nothing else. */
export function filterOf({ mac }: Pick<Secrets, 'mac'>, { known }: Pick<RedactionNote, 'known'>): SecretFilter {
  return createSecretFilter({ known, mac, shapes: [] });
}

interface Places {
  readonly dataDirectory: string;
  readonly filter: SecretFilter;
  readonly longest: number;
}

function cleanLogs({ dataDirectory, filter, longest }: Places, runs: readonly RunId[]): number {
  const folders = ['logs', ...runs.map(run => path.join('runs', run, 'logs'))];
  const files = folders.flatMap(folder => [...filesWith(dataDirectory, folder, filter, longest)]);
  for (const file of files) rewriteLog(path.join(dataDirectory, file), filter);
  return files.length;
}

/** Contents that hold it, and that nothing needs any more. They go however young they are. */
function removeBlobs({ dataDirectory, filter, longest }: Places, store: Store): number {
  const found = [...filesWith(dataDirectory, 'blobs', filter, longest)];
  if (found.length === 0) return 0;
  const needed = store.retention.referenced(textsOf(dataDirectory, new Set()));
  const going = found.filter(file => !needed.has(path.basename(file)));
  for (const file of going) {
    rmSync(path.join(dataDirectory, file), { force: true });
    store.forgetBlob(`sha256:${path.basename(file)}` as Digest);
  }
  return going.length;
}

/** Where it still is. Nothing is changed. */
export function leftIn({ dataDirectory, filter, longest }: Places, store: Store): RedactionReport['left'] {
  const runs = store.takenAway.holders(filter).map(run => ({ where: `run ${run}`, why: whyOfRun }));
  const files = [...filesWith(dataDirectory, '.', filter, longest)].map(file => ({ where: file, why: whyOf(file) }));
  return [...runs, ...files];
}

const whyOfRun = 'another run, or a place where this one works: redact that run, or rename the place';

function whyOf(file: string): string {
  const [folder = ''] = file.split(path.sep);
  switch (folder) {
    case 'blobs':
      return 'a file that a snapshot of a workspace, a checkpoint or a session still needs';
    case 'checkpoints':
    case 'undo':
      return 'what files were before a tool call changed them; it goes with its run';
    case 'sessions':
    case 'snapshots':
    case 'workflows':
      return 'a guided session, whose journal cannot be changed; delete the session';
    case 'workspaces':
      return 'a file of a run, which is its own; remove it there';
    case 'runs':
      return 'the journal or log of another run: redact that run';
    default:
      return 'a file that is not of a run; remove it if nothing needs it';
  }
}

function stillRead(): ErrorEnvelope<'STORE_IO_FAILED'> {
  return failure('STORE_IO_FAILED', {
    message:
      'The secret is out of the runs, but somebody still reads what the database was before, so it is still on disk.',
    suggestion: 'Close what reads the data directory and redact again; the next start of an owner ends it too.',
    retry: { kind: 'retryable_immediate' },
  });
}
