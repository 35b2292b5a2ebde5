import { existsSync, lstatSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type RunId, runId } from '@signalbox/model';
import { neededPart } from '@signalbox/store';
import { namesIn } from '../names-in.ts';
import { contentOf } from '../packed-file.ts';
import { openWrittenLengths } from '../run-journal/written-lengths.ts';

/** Directories that hold one folder for each run. */
const perRun = ['runs', 'checkpoints'] as const;

/** What may refer to blobs beside the database. Only files of these kinds: the lock files of SQLite are SQLite's. */
const roots = [...perRun, 'undo', 'sessions', 'snapshots', 'workflows'];
const isText = (name: string) => /\.(json|jsonl|ndjson)(\.zst)?$/.test(name);

/** What is younger may belong to a run that is being made. */
const YOUNG_MS = 3_600_000;

/** In the folder of a run that is being removed: its journal is not what is left of a database that was lost. */
const GOING = 'going';

export interface RunFolder {
  readonly run: RunId;
  readonly path: string;
  readonly bytes: number;
}

/** Marks the folders of runs whose rows are about to go. Whoever imports one of them again begins another journal. */
export function markGoing(dataDirectory: string, runs: readonly RunId[]): void {
  for (const name of ['journaled', 'logged'] as const) {
    openWrittenLengths(dataDirectory, name).note(new Map(runs.map(run => [run, 0])));
  }
  for (const run of runs) {
    const folder = path.join(dataDirectory, 'runs', run);
    if (existsSync(folder)) writeFileSync(path.join(folder, GOING), '', { mode: 0o600 });
  }
}

/** Whether a run has a journal, and nobody removed the run. */
export function hasJournal(dataDirectory: string, run: RunId): boolean {
  return existsSync(path.join(dataDirectory, 'runs', run, 'manifest.jsonl')) && !isMarked(dataDirectory, run);
}

function isMarked(dataDirectory: string, run: RunId): boolean {
  return existsSync(path.join(dataDirectory, 'runs', run, GOING));
}

/**
 * The folders of runs that are going, and of runs that are not there: a collection was cut off before it removed them. What is left
 * of a run that the database lost stays: it can be restored from it.
 */
export function foldersToRemove(
  dataDirectory: string,
  isThere: (run: RunId) => boolean,
  going: ReadonlySet<RunId>,
  nowMs: number,
): readonly RunFolder[] {
  return perRun.flatMap(place =>
    namesIn(path.join(dataDirectory, place)).flatMap((name): readonly RunFolder[] => {
      const folder = path.join(dataDirectory, place, name);
      const run = runId.safeParse(name);
      if (!run.success) return [];
      if (!going.has(run.data)) {
        const stat = lstatSync(folder, { throwIfNoEntry: false });
        if (isThere(run.data) || stat === undefined || hasJournal(dataDirectory, run.data)) return [];
        if (nowMs - stat.mtimeMs < YOUNG_MS && !isMarked(dataDirectory, run.data)) return [];
      }
      return [{ run: run.data, path: folder, bytes: bytesUnder(folder) }];
    }),
  );
}

export function removeFolder({ path: folder }: Pick<RunFolder, 'path'>): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Everything beside the database that may name blobs, without the folders of runs that are going. */
export function* textsOf(dataDirectory: string, going: ReadonlySet<RunId>): Generator<string> {
  for (const root of roots) {
    const isPerRun = (perRun as readonly string[]).includes(root);
    for (const name of namesIn(path.join(dataDirectory, root))) {
      if (!isPerRun || !going.has(name as RunId)) yield* textsUnder(path.join(dataDirectory, root, name));
    }
  }
}

function* textsUnder(place: string): Generator<string> {
  const stat = lstatSync(place, { throwIfNoEntry: false });
  if (stat?.isDirectory()) for (const name of namesIn(place)) yield* textsUnder(path.join(place, name));
  else if (stat?.isFile() && isText(place)) {
    try {
      const text = Buffer.from(contentOf(place)).toString();
      yield isSegment(place) ? neededOf(text) : text;
    } catch (cause) {
      // It went while it was looked at. What cannot be read otherwise may name blobs that must stay.
      if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    }
  }
}

/** A segment of a journal, of a run or a session. */
const isSegment = (place: string) => path.basename(path.dirname(place)) === 'events' && /\.jsonl(\.zst)?$/.test(place);

/** What of a segment names blobs that are needed: not the headers of bodies that were replaced. */
function neededOf(segment: string): string {
  if (!segment.includes('\\"away\\":{') && !segment.includes('\\"taken\\":{')) return segment;
  return segment.split('\n').map(neededOfLine).join('\n');
}

function neededOfLine(line: string): string {
  try {
    const { data } = JSON.parse(line) as { readonly data?: { readonly header?: unknown; readonly body?: unknown } };
    const { header, body } = data ?? {};
    return typeof header === 'string' && typeof body === 'string' ? neededPart({ header, body }) : line;
  } catch {
    return line;
  }
}

export function bytesUnder(place: string): number {
  const stat = lstatSync(place, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.size;
  return namesIn(place).reduce((sum, name) => sum + bytesUnder(path.join(place, name)), 0);
}
