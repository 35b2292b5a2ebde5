import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { hostDisk, nodeHasher } from '@signalbox/journal';
import { type Digest, type RunId, runId } from '@signalbox/model';
import { type OpenRecord, openRecord, type RecordBody, type RunRecord, type TaskId } from '@signalbox/runs';
import {
  openBlobFiles,
  openSearchIndex,
  type Reader,
  readLogLengths,
  type SearchEntry,
  type SearchIndex,
} from '@signalbox/store';
import { stretchesOf } from '../turns/turn-changes.ts';
import { checkpointFolder, readOuterCheckpoints } from '../undo/checkpoint-files.ts';
import { changedFiles } from '../workspaces/snapshot-diff.ts';
import { fileEntry, recordEntries, runEntry } from './record-entries.ts';
import { refreshSessions } from './session-entries.ts';

/** The index of a data directory. It is in `cache/`: deleting it loses nothing. */
export function searchFile(dataDirectory: string): string {
  return path.join(dataDirectory, 'cache', 'search.sqlite');
}

export interface RefreshOptions {
  readonly dataDirectory: string;
  /** Undefined without a database. */
  readonly reader: Reader | undefined;
  /** Whether to leave the rest for later. */
  readonly isEnding?: () => boolean;
}

/** Indexes what runs and sessions have and the index lacks. Returns how many are left: those that could not be read. */
export async function refreshSearch({
  dataDirectory,
  reader,
  isEnding = () => false,
}: RefreshOptions): Promise<number> {
  const index = openIndex(dataDirectory);
  try {
    return await refreshIndex({ dataDirectory, reader, isEnding }, index);
  } finally {
    index.close();
  }
}

export function openIndex(dataDirectory: string): SearchIndex {
  const file = searchFile(dataDirectory);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  return openSearchIndex({ path: file });
}

export async function refreshIndex(
  { dataDirectory, reader, isEnding = () => false }: RefreshOptions,
  index: SearchIndex,
): Promise<number> {
  const runs = await refreshRuns({ dataDirectory, reader, isEnding }, index);
  return runs + (await refreshSessions(dataDirectory, index, isEnding));
}

async function refreshRuns(
  { dataDirectory, reader, isEnding }: Required<RefreshOptions>,
  index: SearchIndex,
): Promise<number> {
  const lengths = reader === undefined ? undefined : readLogLengths({ path: path.join(dataDirectory, 'db.sqlite') });
  if (reader === undefined || lengths === undefined || !lengths.ok) return 0;
  const known = index.logs();
  for (const id of known.keys()) {
    if (runId.safeParse(id).success && !lengths.value.has(id as RunId)) index.forget(id);
  }
  const textOf = largeTexts(dataDirectory);
  let left = 0;
  for (const [id, records] of lengths.value) {
    const before = known.get(id);
    if (before?.records === records) continue;
    if (isEnding()) return left + 1;
    const isDone = await refreshRun({ dataDirectory, reader, textOf }, index, id as RunId, before?.records ?? 0);
    if (!isDone) left += 1;
  }
  return left;
}

/** Reads values that are too large for their record. One whose blob is gone or damaged is for `verify` to name. */
function largeTexts(dataDirectory: string): (blob: Digest) => string {
  const blobs = openBlobFiles({ disk: hostDisk, hasher: nodeHasher, home: dataDirectory, writer: 'nobody' });
  return name => {
    const content = blobs.get(name);
    return content.ok ? Buffer.from(content.value).toString() : 'null';
  };
}

interface RunSource {
  readonly dataDirectory: string;
  readonly reader: Reader;
  readonly textOf: (blob: Digest) => string;
}

/** The mark of every run; that of a session is its head. */
const RUN = 'run';

const PAGE = 200;

async function refreshRun(
  { dataDirectory, reader, textOf }: RunSource,
  index: SearchIndex,
  id: RunId,
  begin: number,
): Promise<boolean> {
  const nodes = new Map<string, string>();
  for (let from = begin; ; ) {
    const run = await reader.run(id);
    if (run === undefined) return true;
    const page = from < run.records ? await reader.records(id, from, PAGE) : [];
    const entries: SearchEntry[] = from + page.length >= run.records ? [runEntry(run)] : [];
    const ended = new Set<TaskId>();
    for (const stored of page) {
      const opened = openRecord(stored, nodeHasher, textOf);
      // A damaged record is for `verify` to name: what can be read is found.
      if (!opened.ok) continue;
      const { header, body } = opened.value;
      // Records before it were rewritten: what they had must not stay.
      if (isTaking(opened.value) && from > 0) {
        index.forget(id);
        return refreshRun({ dataDirectory, reader, textOf }, index, id, 0);
      }
      await nameTasks(reader, id, body, nodes);
      entries.push(...recordEntries(header, body, { nodeOf: task => nodes.get(task), textOf }));
      for (const task of tasksWithCalls(body)) ended.add(task);
    }
    for (const task of ended)
      entries.push(...(await fileEntries({ dataDirectory, reader }, run, task, nodes.get(task))));
    const records = from + page.length;
    if (!index.put({ id, run: id, name: run.name, from, records, mark: RUN, entries })) return false;
    if (page.length === 0 || records >= run.records) return true;
    from = records;
  }
}

function isTaking({ body }: OpenRecord): boolean {
  return body.taken !== undefined || body.retention?.collapse !== undefined;
}

/** Learns the nodes of the tasks that a record speaks of. */
async function nameTasks(reader: Reader, run: RunId, body: RecordBody, nodes: Map<string, string>): Promise<void> {
  for (const { id, node } of body.tasks ?? []) nodes.set(id, node);
  for (const { task } of body.stream ?? []) {
    if (nodes.has(task)) continue;
    const known = await reader.task(run, task);
    if (known !== undefined) nodes.set(task, known.node);
  }
}

function tasksWithCalls({ events }: RecordBody): readonly TaskId[] {
  return (events ?? []).flatMap(event => ('type' in event && event.type === 'call.ended' ? [event.task] : []));
}

/** The files that the calls of a task changed, by the snapshots around them: also those of commands, which do not name them. */
async function fileEntries(
  { dataDirectory, reader }: { readonly dataDirectory: string; readonly reader: Reader },
  { id }: RunRecord,
  task: TaskId,
  node: string | undefined,
): Promise<readonly SearchEntry[]> {
  const calls = readOuterCheckpoints(checkpointFolder(dataDirectory, id)).filter(call => call.task === task);
  const found: SearchEntry[] = [];
  for (const { from, to } of stretchesOf(calls)) {
    const files = await changedFiles(reader, from, to);
    if (!files.ok) continue;
    const at = calls.findLast(({ after }) => after === to)?.at ?? calls.at(-1)?.at ?? '';
    for (const { path: name, change } of files.value) {
      found.push({ ...fileEntry(name, change, { node, at }), run: id });
    }
  }
  return found;
}
