import { readFileSync, writeFileSync } from 'node:fs';
import {
  type AppendError,
  type Appended,
  type Disk,
  type HealthError,
  hostDisk,
  type IoError,
  type Journal,
  type LockError,
  nodeHasher,
  openContentStore,
  openJournal,
  sqliteLocks,
  type VerifyReport,
} from '@signalbox/journal';
import type { ErrorEnvelope, Result } from '@signalbox/model';
import { draftOf, type RunJournalEvent, runJournalSchema, sessionOfRun } from '../run-journal/run-journal-event.ts';
import { verifyDirectory } from '../verify-directory.ts';
import { type Beat, type Story, tellStory } from './story.ts';

const COLLECTION = 'runs';

type BeatError = AppendError | HealthError | IoError | LockError;

/** The setting of the demo: the story, and its journal on the real disk under the real lock. */
export interface Stage {
  readonly story: Story;
  /** Relative to the home. */
  readonly journalPath: string;
  /** A view of a newly started process, which knows only the files. */
  openJournal(): Journal<RunJournalEvent>;
  append(beat: Beat): Promise<Result<Appended<RunJournalEvent>, BeatError>>;
  verify(expectHead?: string): Result<VerifyReport, ErrorEnvelope>;
  /** Files of the journal, by their paths in it. */
  read(file: string): Buffer;
  write(file: string, bytes: Uint8Array): void;
  list(folder: string): readonly string[];
}

export function openStage(home: string, disk: Disk = hostDisk): Stage {
  const story = tellStory();
  const sessionId = sessionOfRun(story.runId);
  const journalPath = `${COLLECTION}/${sessionId}`;
  const directory = `${home}/${journalPath}`;
  const hasher = nodeHasher;

  const open = () => {
    const snapshots = openContentStore({ disk, hasher, home, name: 'snapshots', writer: String(process.pid) });
    const journal = openJournal({
      disk,
      locks: sqliteLocks,
      hasher,
      schema: runJournalSchema,
      snapshots,
      home,
      collection: COLLECTION,
      sessionId,
    });
    return { journal, snapshots };
  };

  return {
    story,
    journalPath,
    openJournal: () => open().journal,
    async append(beat) {
      const { journal, snapshots } = open();
      const stored = snapshots.putAll(beat.snapshots);
      if (!stored.ok) return stored;
      return journal.withLock<Appended<RunJournalEvent>, AppendError>(witness =>
        journal.append(witness, { events: beat.events.map(draftOf) }),
      );
    },
    verify: expectHead => verifyDirectory(directory, { expectHead }),
    read: file => readFileSync(`${directory}/${file}`),
    write: (file, bytes) => writeFileSync(`${directory}/${file}`, bytes),
    list: folder => hostDisk.list(`${directory}/${folder}`),
  };
}
