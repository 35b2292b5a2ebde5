import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { hostDisk, nodeHasher } from '@signalbox/journal';
import { type Digest, type RunId, runId } from '@signalbox/model';
import { type OpenRecord, openRecord, type RecordBody, type RunRecord, type TaskId } from '@signalbox/runs';
import {
  type LogToIndex,
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
  const batch = putTogether(index);
  for (const [id, records] of lengths.value) {
    const before = known.get(id);
    if (before?.records === records) continue;
    if (isEnding()) return batch.end() + 1;
    await refreshRun({ dataDirectory, reader, textOf }, batch, id as RunId, before?.records ?? 0);
  }
  return batch.end();
}

/** Another process that writes the index waits for a transaction. */
const MOST_LOGS = 100;
const MOST_CHARACTERS = 1024 * 1024;

/** Many short runs share a transaction: one for each takes longer than its entries. */
interface Batch {
  put(log: LogToIndex): void;
  forget(run: RunId): void;
  /** Returns how many runs are to be read again. */
  end(): number;
}

function putTogether(index: SearchIndex): Batch {
  const left = new Set<string>();
  let waiting: LogToIndex[] = [];
  let characters = 0;

  function flush(): void {
    if (waiting.length > 0) for (const id of index.putAll(waiting)) left.add(id);
    waiting = [];
    characters = 0;
  }

  return {
    put(log) {
      waiting.push(log);
      for (const { title, body } of log.entries) characters += title.length + body.length;
      if (waiting.length >= MOST_LOGS || characters >= MOST_CHARACTERS) flush();
    },
    forget(run) {
      flush();
      index.forget(run);
      left.delete(run);
    },
    end() {
      flush();
      return left.size;
    },
  };
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

/** The text of every record that adds an entry, or rewrites earlier records, has one of these: most steps are not opened. */
const TELLING = /"(?:begins|stream|artifacts|taken|retention)":|\["node",|"(?:file\.written|call\.ended)"/;

async function refreshRun(
  { dataDirectory, reader, textOf }: RunSource,
  batch: Batch,
  id: RunId,
  begin: number,
): Promise<void> {
  const nodes = new Map<string, string>();
  for (let from = begin; ; ) {
    const run = await reader.run(id);
    if (run === undefined) return;
    const page = from < run.records ? await reader.records(id, from, PAGE) : [];
    const entries: SearchEntry[] = from + page.length >= run.records ? [runEntry(run)] : [];
    const ended = new Set<TaskId>();
    for (const stored of page) {
      if (!TELLING.test(stored.body)) continue;
      const opened = openRecord(stored, nodeHasher, textOf);
      // A damaged record is for `verify` to name: what can be read is found.
      if (!opened.ok) continue;
      const { header, body } = opened.value;
      // Records before it were rewritten: what they had must not stay.
      if (isTaking(opened.value) && from > 0) {
        batch.forget(id);
        return refreshRun({ dataDirectory, reader, textOf }, batch, id, 0);
      }
      await nameTasks(reader, id, body, nodes);
      entries.push(...recordEntries(header, body, { nodeOf: task => nodes.get(task), textOf }));
      for (const task of tasksWithCalls(body)) ended.add(task);
    }
    for (const task of ended)
      entries.push(...(await fileEntries({ dataDirectory, reader }, run, task, nodes.get(task))));
    const records = from + page.length;
    batch.put({ id, run: id, name: run.name, from, records, mark: RUN, entries });
    if (page.length === 0 || records >= run.records) return;
    from = records;
  }
}

function isTaking({ body }: OpenRecord): boolean {
  return body.taken !== undefined || body.retention?.collapse !== undefined;
}

/** Learns the nodes of the tasks that a record speaks of. */
async function nameTasks(reader: Reader, run: RunId, body: RecordBody, nodes: Map<string, string>): Promise<void> {
  for (const { id, node } of body.tasks ?? []) nodes.set(id, node);
  const said = (body.stream ?? []).map(({ task }) => task);
  for (const task of [...said, ...tasksWithCalls(body)]) {
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
