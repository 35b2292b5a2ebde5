import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { hostDisk, manifestRecord, nodeHasher } from '@signalbox/journal';
import { type Digest, err, ok, type ProjectId, projectId, type Result, type RunId, runId } from '@signalbox/model';
import { type LogRecord, openHeader, openProjectHeader } from '@signalbox/runs';
import { openBlobFiles } from '@signalbox/store';
import { hasJournal } from '../retention/run-folders.ts';
import { collections, journalOfRun } from '../run-journal/derive-journal.ts';
import type { LogId, LogOf } from '../run-journal/run-record-event.ts';

/** The runs with a journal in the data directory that were not removed, by id. */
export function runsWithJournal(dataDirectory: string): readonly RunId[] {
  return foldersOf(dataDirectory).filter(run => hasJournal(dataDirectory, run));
}

/** The part of a log that a journal holds. */
export interface JournalLog {
  readonly records: readonly LogRecord[];
  /** Why it ends there, if it is damaged. */
  readonly defect?: string;
}

/** The records in a journal, up to the first defect. */
export function journalLog(dataDirectory: string, log: LogId, of: LogOf = 'run'): Result<JournalLog, string> {
  const salvaged = journalOfRun(dataDirectory, log, undefined, undefined, of).salvage();
  if (!salvaged.ok) return err(salvaged.error.message);
  const { view, defect } = salvaged.value;
  const records: LogRecord[] = [];
  for (const { data } of view.events()) {
    const body = data.body === undefined ? bodyInBlob(dataDirectory, data, of) : ok(data.body);
    if (!body.ok) return ok({ records, defect: body.error });
    records.push({ header: data.header, body: body.value, hash: data.hash });
  }
  return ok({ records, ...(defect === undefined ? {} : { defect: defect.reason }) });
}

/** A body that was too large for the journal is in a blob. */
function bodyInBlob(
  dataDirectory: string,
  { header: text, blob }: { readonly header: string; readonly blob?: Digest | undefined },
  of: LogOf,
): Result<string, string> {
  const header = of === 'run' ? openHeader(text) : openProjectHeader(text);
  if (!header.ok) return header;
  const blobs = openBlobFiles({ disk: hostDisk, hasher: nodeHasher, home: dataDirectory, writer: 'nobody' });
  const content = blobs.get(blob ?? header.value.body);
  return content.ok ? ok(Buffer.from(content.value).toString()) : err(content.error.message);
}

/** How many records a journal attests; 0 if its end cannot be read. Cheap: only the last lines of its manifest are parsed. */
export function journalLength(dataDirectory: string, log: LogId, of: LogOf = 'run'): number {
  try {
    // The file may have been replaced with a link or an endless pipe.
    const manifest = hostDisk.read(manifestOf(dataDirectory, log, of));
    if (typeof manifest === 'string') return 0;
    const lines = Buffer.from(manifest).toString().trimEnd().split('\n');
    for (const line of lines.reverse()) {
      const record = manifestRecord.safeParse(JSON.parse(line));
      if (record.success && record.data.kind === 'segment_closed') return record.data.lastEventIndex + 1;
    }
  } catch {
    // A damaged journal counts as empty here; verifying its run shows the defect.
  }
  return 0;
}

/** The last written journals, newest first. */
export function newestJournals(dataDirectory: string, runs: readonly RunId[], limit: number): readonly RunId[] {
  return runs
    .map(run => ({ run, at: statSync(manifestOf(dataDirectory, run), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.at - a.at)
    .slice(0, limit)
    .map(({ run }) => run);
}

export function foldersOf(dataDirectory: string): readonly RunId[] {
  const folder = path.join(dataDirectory, 'runs');
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(folder)
    .flatMap(name => runId.safeParse(name).data ?? [])
    .sort();
}

/** The projects with a journal in the data directory, by id. */
export function projectsWithJournal(dataDirectory: string): readonly ProjectId[] {
  const folder = path.join(dataDirectory, collections.project);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(folder)
    .flatMap(name => projectId.safeParse(name).data ?? [])
    .filter(project => existsSync(manifestOf(dataDirectory, project, 'project')))
    .sort();
}

const manifestOf = (dataDirectory: string, log: LogId, of: LogOf = 'run'): string =>
  path.join(dataDirectory, collections[of], log, 'manifest.jsonl');
