import path from 'node:path';
import type { ProjectId, RunId } from '@signalbox/model';
import { readLogLengths } from '@signalbox/store';
import { foldersOf, journalLength, newestJournals, runsWithJournal } from './run-journals.ts';

/** Runs of which the journals have more than the database: it was lost, or is an older copy. */
export interface JournalsAhead {
  /** Runs that the database lacks. */
  readonly absent: readonly RunId[];
  /** Runs whose log ends before their journal. */
  readonly behind: readonly RunId[];
}

const NOTHING: JournalsAhead = { absent: [], behind: [] };

/** An outdated database lacks the newest writes, so a few journals suffice. */
const LOOKED_AT = 8;

/**
 * Compares the database with the journals beside it. Cheap enough for every start: only the newest journals are opened, unless all are
 * requested.
 */
export function journalsAhead(dataDirectory: string, { all = false }: { readonly all?: boolean } = {}): JournalsAhead {
  const folders = foldersOf(dataDirectory);
  if (folders.length === 0) return NOTHING;
  // Journals follow the logs of an active owner: they are read first.
  const looked = all ? folders : newestJournals(dataDirectory, folders, LOOKED_AT);
  const journaled = new Map(looked.map(run => [run, journalLength(dataDirectory, run)]));
  const lengths = readLogLengths({ path: path.join(dataDirectory, 'db.sqlite') });
  if (!lengths.ok && lengths.error.code !== 'store/missing') return NOTHING;
  const known: ReadonlyMap<RunId | ProjectId, number> = lengths.ok ? lengths.value : new Map();
  const journals = new Set(folders.some(run => !known.has(run)) || all ? runsWithJournal(dataDirectory) : []);
  const absent = folders.filter(run => !known.has(run) && journals.has(run));
  const behind = [...journaled].flatMap(([run, length]) => (length > (known.get(run) ?? length) ? run : []));
  return { absent, behind };
}
