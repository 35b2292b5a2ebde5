import type { RunId } from '@signalbox/model';
import type { Timers } from '@signalbox/plan';
import type { RunReader } from '@signalbox/runs';
import { deriveJournal } from './derive-journal.ts';

/** Writes the journals of runs that came to rest. */
export interface JournalKeeper {
  /** Of the run and of its sub-plans, beside whatever else goes on. */
  rested(run: RunId): void;
  /** Resolves when all of them were tried. */
  close(): Promise<void>;
}

const FIRST_WAIT_MS = 1000;
const MOST_WAIT_MS = 60_000;

/**
 * A journal that cannot be written now is tried again, after waits that double; what is left when the process ends is written
 * when the run is exported or verified.
 */
export function createJournalKeeper(
  dataDirectory: string,
  reader: Pick<RunReader, 'records' | 'children'>,
  timers: Timers,
): JournalKeeper {
  const behind = new Set<RunId>();
  let writing: Promise<void> = Promise.resolve();
  let waitMs = FIRST_WAIT_MS;
  let cancel: (() => void) | undefined;

  async function write(run: RunId): Promise<boolean> {
    const derived = await deriveJournal(dataDirectory, reader, run);
    let isWhole = derived.ok;
    for (const { id, origin } of await reader.children(run)) {
      if (origin?.kind === 'sub-plan') isWhole = (await write(id)) && isWhole;
    }
    return isWhole;
  }

  async function attempt(run: RunId): Promise<void> {
    const isWhole = await write(run).catch(() => false);
    if (isWhole) behind.delete(run);
    else behind.add(run);
    if (behind.size === 0) waitMs = FIRST_WAIT_MS;
    else cancel ??= timers.after(waitMs, catchUp);
  }

  function catchUp(): void {
    cancel = undefined;
    waitMs = Math.min(waitMs * 2, MOST_WAIT_MS);
    for (const run of behind) queue(run);
  }

  function queue(run: RunId): void {
    writing = writing.then(() => attempt(run));
  }

  return {
    rested: queue,
    async close() {
      await writing;
      cancel?.();
      for (const run of behind) await write(run).catch(() => false);
    },
  };
}
