import type { RunId } from '@signalbox/model';
import type { RunReader } from '@signalbox/runs';
import { deriveJournal } from './derive-journal.ts';

/** Writes the journals of runs that came to rest. */
export interface JournalKeeper {
  /** Of the run and of its sub-plans, beside whatever else goes on. */
  rested(run: RunId): void;
  /** Resolves when all of them are written. */
  close(): Promise<void>;
}

/** A journal that cannot be written now is written when the run is exported or verified. */
export function createJournalKeeper(
  dataDirectory: string,
  reader: Pick<RunReader, 'events' | 'children'>,
): JournalKeeper {
  let writing: Promise<void> = Promise.resolve();

  async function write(run: RunId): Promise<void> {
    await deriveJournal(dataDirectory, reader, run);
    for (const { id, origin } of await reader.children(run)) if (origin?.kind === 'sub-plan') await write(id);
  }

  return {
    rested(run) {
      writing = writing.then(() => write(run)).catch(() => {});
    },
    close: () => writing,
  };
}
