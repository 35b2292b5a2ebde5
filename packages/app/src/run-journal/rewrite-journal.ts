import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { lineLocks } from '@signalbox/journal';
import { type ErrorEnvelope, err, failure, ok, type Result, type RunId } from '@signalbox/model';
import type { RunReader } from '@signalbox/runs';
import { sync } from '../backup/copy-tree.ts';
import { extendJournal, journalOfRun } from './derive-journal.ts';
import { ownRecordSchema } from './run-record-event.ts';

/** Where the new journal is until it is complete. */
const ANEW = 'rewritten';

/**
 * Rewrites the journal of a run from its log, after bodies of the log were replaced (T7), and removes the old segments. The new one is
 * complete and on disk before the old one is removed. A process killed in between leaves no journal or a part of one: the note of the
 * replacement makes the next owner repeat it. A run without a journal gets none.
 */
export async function rewriteJournal(
  dataDirectory: string,
  reader: Pick<RunReader, 'records'>,
  run: RunId,
): Promise<Result<void, ErrorEnvelope>> {
  const folder = path.join(dataDirectory, 'runs', run);
  const aside = path.join(folder, ANEW);
  if (![MANIFEST, EVENTS, ANEW].some(name => existsSync(path.join(folder, name)))) return ok(undefined);
  const lock = await lineLocks.acquire(path.join(folder, '.lock'));
  if (!lock.ok) return err(notRewritten(run, 'it is locked'));
  try {
    rmSync(aside, { recursive: true, force: true });
    mkdirSync(aside, { mode: 0o700 });
    const journal = journalOfRun(aside, run, ownRecordSchema);
    const written = await extendJournal(journal, dataDirectory, reader, run);
    if (!written.ok) return written;
    const whole = path.join(aside, 'runs', run);
    for (const name of [MANIFEST, EVENTS]) rmSync(path.join(folder, name), { recursive: true, force: true });
    // The manifest names the segments: it comes last.
    for (const name of [EVENTS, MANIFEST]) {
      if (existsSync(path.join(whole, name))) renameSync(path.join(whole, name), path.join(folder, name));
    }
    sync(folder);
    rmSync(aside, { recursive: true, force: true });
    return ok(undefined);
  } finally {
    lock.value.release();
  }
}

const MANIFEST = 'manifest.jsonl';
const EVENTS = 'events';

export function notRewritten(run: RunId, why: string): ErrorEnvelope<'STORE_IO_FAILED'> {
  return failure('STORE_IO_FAILED', {
    message: `The journal of run ${run} was not written again: ${why}.`,
    suggestion: 'Try again; the next start of an owner does it too.',
    retry: { kind: 'retryable_immediate' },
    details: { run },
  });
}
