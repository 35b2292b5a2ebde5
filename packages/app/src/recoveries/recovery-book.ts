import { readFileSync } from 'node:fs';
import path from 'node:path';
import { hostDisk, placeFile } from '@signalbox/journal';
import {
  type Clock,
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type RecoveryNote,
  type Result,
  recoveryList,
  thrownMessage,
} from '@signalbox/model';

/**
 * The results of recoveries, in `recoveries.json` of the data directory, so that they outlive the terminal that showed them.
 *
 * 1. A note stays until a person dismisses it, or for 30 days; at most 200 are kept, the newest. A call that was interrupted again has one
 *    note, and one for each earlier time that kept files.
 * 2. A failed recovery stays, and cannot be dismissed, until a later one of the same call succeeds.
 * 3. The file is read each time: any process may list and dismiss. An unreadable one counts as empty.
 */
export interface RecoveryBook {
  /** Newest first. */
  list(): readonly RecoveryNote[];
  /** Stores the results of this start's recovery, which covers everything pending. If the disk is not writable they stay in memory. */
  add(notes: readonly RecoveryNote[]): void;
  dismiss(id: string): Result<RecoveryNote, ErrorEnvelope>;
}

const FILE = 'recoveries.json';
const KEPT_MS = 30 * 86_400_000;
const MOST = 200;
const FAILED = 'failed';
const SETTLED = 'The call could not be rolled back at first; since then somebody dealt with it.';

export function openRecoveryBook(dataDirectory: string, clock: Clock): RecoveryBook {
  const file = path.join(dataDirectory, FILE);
  let unwritten: readonly RecoveryNote[] = [];

  function read(): readonly RecoveryNote[] {
    let kept: readonly RecoveryNote[] = [];
    try {
      kept = recoveryList.parse(JSON.parse(readFileSync(file, 'utf8'))).recoveries;
    } catch {
      // Nothing was stored, or it is unusable.
    }
    return merged(unwritten, kept);
  }

  /** Each call once, with its last result, and with every attempt that kept someone's files. */
  function merged(newer: readonly RecoveryNote[], older: readonly RecoveryNote[]): readonly RecoveryNote[] {
    const isTold = (note: RecoveryNote) =>
      newer.some(({ id, at }) => id === note.id && (at === note.at || !hasKept(note)));
    const isYoung = ({ at, outcome }: RecoveryNote) => outcome === FAILED || clock.now() - Date.parse(at) < KEPT_MS;
    return [...newer, ...older.filter(note => !isTold(note))].filter(isYoung).slice(0, MOST);
  }

  function write(recoveries: readonly RecoveryNote[]): void {
    const text = `${JSON.stringify({ recoveries })}\n`;
    placeFile(hostDisk, { path: file, temporary: `${file}.${process.pid}.tmp` }, Buffer.from(text));
    hostDisk.syncDirectory(dataDirectory);
  }

  return {
    list: read,
    add(notes) {
      const before = read();
      const isOver = ({ id, outcome }: RecoveryNote) => outcome === FAILED && notes.every(note => note.id !== id);
      if (notes.length === 0 && !before.some(isOver)) return;
      const all = merged(
        notes,
        before.map(note => (isOver(note) ? { ...note, outcome: 'settled', message: SETTLED } : note)),
      );
      try {
        write(all);
        unwritten = [];
      } catch {
        unwritten = merged(notes, unwritten);
      }
    },
    dismiss(id) {
      const all = read();
      const note = all.find(one => one.id === id);
      if (note === undefined) return err(unknown(id));
      if (note.outcome === FAILED) return err(stillOpen(note));
      try {
        write(all.filter(one => one.id !== id));
      } catch (cause) {
        return err(notWritten(id, cause));
      }
      unwritten = unwritten.filter(one => one.id !== id);
      return ok(note);
    },
  };
}

/** A call that runs again may be interrupted again: files kept the first time are still available. */
function hasKept({ outcome, paths }: RecoveryNote): boolean {
  return outcome !== FAILED && paths.some(({ what }) => what === 'kept');
}

function unknown(id: string): ErrorEnvelope {
  return failure('recovery/unknown', {
    message: `There is no recovery of a call ${id.slice(0, 80)}, or it was dismissed.`,
    suggestion: 'List recoveries with "signalbox recoveries".',
    details: { call: id.slice(0, 80) },
  });
}

function stillOpen({ id, message }: RecoveryNote): ErrorEnvelope {
  return failure('recovery/open', {
    message: `The recovery of call ${id} has not succeeded yet: ${message}`,
    suggestion: 'Remove the obstacle, then start Signalbox again: every start retries it.',
    details: { call: id },
  });
}

function notWritten(id: string, cause: unknown): ErrorEnvelope {
  return failure('STORE_IO_FAILED', {
    message: `The recovery of call ${id} could not be dismissed: ${thrownMessage(cause)}.`,
    suggestion: 'Check that the data directory is writable and not full, then try again.',
    retry: { kind: 'retryable_immediate' },
  });
}
