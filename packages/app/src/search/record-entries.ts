import { type Digest, isJsonObject, type Json, type JsonObject, nodeKindFacts, textOf } from '@signalbox/model';
import type { ArtifactRecord, KeptEvent, RecordBody, RecordHeader, RunRecord, StreamChunk } from '@signalbox/runs';
import type { SearchEntry } from '@signalbox/store';
import { wordsOf } from './words-of.ts';

/** The tool whose call is the whole turn of an agent of another vendor: its parts are found instead. */
const AGENT_TURN = 'agent_turn';

/** What can be found of a run itself. */
export function runEntry(run: RunRecord): SearchEntry {
  const { id, name, tags, correlationId, source, workingDirectory, input, output, error, stopReason } = run;
  const texts = [id, ...tags, correlationId, source?.entry, workingDirectory, error?.message, stopReason];
  return {
    kind: 'run',
    key: 'run',
    run: id,
    title: name,
    body: [...texts.filter(text => text !== undefined), wordsOf(input), wordsOf(output)].join('\n'),
    at: run.createdAt,
  };
}

interface RecordContext {
  /** The node of a task. */
  readonly nodeOf: (task: string) => string | undefined;
  /** The text in a blob. */
  readonly textOf: (blob: Digest) => string;
}

/** What a record adds. */
export function recordEntries(
  { log, at }: Pick<RecordHeader, 'log' | 'at'>,
  { intervals, stream, artifacts, begins, events }: RecordBody,
  { nodeOf, textOf: textOfBlob }: RecordContext,
): readonly SearchEntry[] {
  const nodes = [
    ...(begins?.intervals ?? []).flatMap(({ space, key, value }) =>
      space === 'node' ? nodeEntry(key, 'json' in value ? value.json : JSON.parse(textOfBlob(value.blob)), at) : [],
    ),
    ...(intervals ?? []).flatMap(({ space, key, change }) =>
      space === 'node' && change.kind === 'set' ? nodeEntry(key, change.value, at) : [],
    ),
  ];
  const chunks = (stream ?? []).flatMap(chunk => chunkEntries(chunk, nodeOf(chunk.task)));
  const written = (events ?? []).flatMap(event => writtenEntry(event, at));
  return [
    ...nodes,
    ...chunks,
    ...written,
    ...(artifacts ?? []).map(artifact => artifactEntry(artifact, textOfBlob)),
  ].map(entry => ({
    ...entry,
    run: log,
  }));
}

function nodeEntry(key: string, value: Json, at: string): readonly SearchEntry[] {
  if (!isJsonObject(value) || !isJsonObject(value.data)) return [];
  const { data } = value;
  const kind = textOf(value.kind) ?? 'node';
  const role = nodeKindFacts(kind)?.role;
  // The places between the work have no words of their own.
  if (role === 'structure' && textOf(data.label) === undefined && textOf(data.name) === undefined) return [];
  const title = textOf(data.label) ?? textOf(data.name) ?? textOf(data.plan) ?? key;
  return [{ kind: 'node', key, node: key, title, body: `${kind} ${wordsOf(data)}`, at }];
}

function chunkEntries(
  { kind, task, index, payload, at }: StreamChunk,
  node: string | undefined,
): readonly SearchEntry[] {
  if (!isJsonObject(payload)) return [];
  const [call, tool] = [textOf(payload.call), textOf(payload.tool)];
  const placed = { node, at };
  if (call !== undefined && tool !== undefined && tool !== AGENT_TURN) {
    const isEnd = kind === 'tool_end' || payload.kind === 'tool_ended';
    const output = isJsonObject(payload.output) ? payload.output.value : undefined;
    const title = textOf(payload.title) ?? (isEnd ? '' : tool);
    const body = isEnd ? wordsOf(output) : `${tool} ${wordsOf(payload.input)}`;
    const words = { kind: 'call', key: call, title, body, isMore: true, ...placed } as const;
    return [words, ...pathsOf(payload).map(path => fileEntry(path, textOf(payload.kind) ?? tool, placed))];
  }
  if (kind !== 'message') return [];
  const said =
    payload.kind === 'assistant' ? spoken(payload.content) : payload.kind === 'prompted' ? payload.text : undefined;
  const body = textOf(said);
  return body === undefined
    ? []
    : [{ kind: 'message', key: `${task}/${index}`, title: node ?? 'agent', body, ...placed }];
}

/** The entry of a file: its path, and what touched it. */
export function fileEntry(
  path: string,
  what: string,
  placed: { readonly node?: string | undefined; readonly at: string },
): SearchEntry {
  return { kind: 'file', key: path, title: path, body: what, isMore: true, ...placed };
}

/** The names that tools give to the argument that is a path. */
const PATH_NAMES = ['path', 'file_path', 'filePath', 'notebook_path', 'file', 'from', 'to'];

function pathsOf({ tool, input, locations, diffs }: JsonObject): readonly string[] {
  const places = [locations, diffs].flatMap(list =>
    Array.isArray(list) ? list.flatMap(place => (isJsonObject(place as Json) ? [(place as JsonObject).path] : [])) : [],
  );
  const named =
    isJsonObject(input) && !/search|grep|glob|list/i.test(String(tool)) ? PATH_NAMES.map(name => input[name]) : [];
  const paths = [...places, ...named].flatMap(path => textOf(path) ?? []);
  // A longer text is no path, whatever its name.
  return [...new Set(paths)].filter(path => path.length <= 1024 && !path.includes('\n'));
}

/** A file that the plan's own code wrote. */
function writtenEntry(event: KeptEvent, at: string): readonly SearchEntry[] {
  if (!('type' in event) || event.type !== 'file.written') return [];
  return [fileEntry(event.path, 'written by the plan', { node: event.node, at })];
}

function artifactEntry(artifact: ArtifactRecord, textOfBlob: RecordContext['textOf']): SearchEntry {
  const { id, name, key, kind, node, alt, digest, mimeType, createdAt } = artifact;
  const isText = mimeType.startsWith('text/') || mimeType === 'application/json';
  const content = isText ? (artifact.content ?? textOfBlob(digest)) : undefined;
  const texts = [key, kind, alt, content].filter(text => text !== undefined);
  return { kind: 'artifact', key: id, artifact: id, node, title: name, body: texts.join('\n'), at: createdAt };
}

function spoken(content: Json | undefined): string {
  if (!Array.isArray(content)) return '';
  return content
    .flatMap(part =>
      isJsonObject(part as Json) && (part as JsonObject).type === 'text' ? [(part as JsonObject).text] : [],
    )
    .join('\n');
}
