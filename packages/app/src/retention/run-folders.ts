import { existsSync, lstatSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type RunId, runId } from '@signalbox/model';
import { HELD, INNER } from '@signalbox/state';
import { neededPart } from '@signalbox/store';
import { namesIn } from '../names-in.ts';
import { contentOf } from '../packed-file.ts';
import { openWrittenLengths } from '../run-journal/written-lengths.ts';

/** Directories that hold one folder for each run. */
const perRun = ['runs', 'checkpoints'] as const;

/** The files of a layer that name blobs. Everything else below is somebody's work. */
const ofLayers = [HELD, INNER];

/** Files besides the database that may refer to blobs. Only these kinds: SQLite's lock files are SQLite's. */
const roots = [...perRun, 'undo', 'sessions', 'snapshots', 'workflows'];
const isText = (name: string) => /\.(json|jsonl|ndjson)(\.zst)?$/.test(name);

/** Younger folders may belong to a run that is being created. */
const YOUNG_MS = 3_600_000;

/** Marks the folder of a run that is being removed: its journal is not the remains of a lost database. */
const GOING = 'going';

export interface RunFolder {
  readonly run: RunId;
  readonly path: string;
  readonly bytes: number;
}

/** Marks the folders of runs whose rows are about to be removed. A later import of one of them starts a new journal. */
export function markGoing(dataDirectory: string, runs: readonly RunId[]): void {
  for (const name of ['journaled', 'logged'] as const) {
    openWrittenLengths(dataDirectory, name).note(new Map(runs.map(run => [run, 0])));
  }
  for (const run of runs) {
    const folder = path.join(dataDirectory, 'runs', run);
    if (existsSync(folder)) writeFileSync(path.join(folder, GOING), '', { mode: 0o600 });
  }
}

/** Whether a run has a journal and was not removed. */
export function hasJournal(dataDirectory: string, run: RunId): boolean {
  return existsSync(path.join(dataDirectory, 'runs', run, 'manifest.jsonl')) && !isMarked(dataDirectory, run);
}

function isMarked(dataDirectory: string, run: RunId): boolean {
  return existsSync(path.join(dataDirectory, 'runs', run, GOING));
}

/**
 * The folders of runs that are being removed, and of missing runs, left by an interrupted collection. The remains of a run that the
 * database lost stay, since it can be restored from them.
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

/** Everything besides the database that may name blobs, without the folders of runs that are being removed. */
export function* textsOf(dataDirectory: string, going: ReadonlySet<RunId>): Generator<string> {
  for (const root of roots) {
    const isPerRun = (perRun as readonly string[]).includes(root);
    for (const name of namesIn(path.join(dataDirectory, root))) {
      if (!isPerRun || !going.has(name as RunId)) yield* textsUnder(path.join(dataDirectory, root, name));
    }
  }
  for (const layer of namesIn(path.join(dataDirectory, 'layers')))
    for (const name of ofLayers) yield* textsUnder(path.join(dataDirectory, 'layers', layer, name));
}

function* textsUnder(place: string): Generator<string> {
  const stat = lstatSync(place, { throwIfNoEntry: false });
  if (stat?.isDirectory()) for (const name of namesIn(place)) yield* textsUnder(path.join(place, name));
  else if (stat?.isFile() && isText(place)) {
    try {
      const text = Buffer.from(contentOf(place)).toString();
      yield isSegment(place) ? neededOf(text) : text;
    } catch (cause) {
      // It was removed meanwhile. A file that is unreadable for another reason may name blobs that must stay.
      if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    }
  }
}

/** A segment of a journal, of a run or a session. */
const isSegment = (place: string) => path.basename(path.dirname(place)) === 'events' && /\.jsonl(\.zst)?$/.test(place);

/** The part of a segment that names needed blobs: without the headers of replaced bodies. */
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
