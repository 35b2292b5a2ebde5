import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { hostDisk } from '@signalbox/journal';
import {
  type Digest,
  digest,
  type ErrorEnvelope,
  err,
  ok,
  parsedJson,
  type Result,
  type Timestamp,
  timestamp,
} from '@signalbox/model';
import {
  type CallChanges,
  callChanges,
  checkpointUnknown,
  createResources,
  filesystem,
  type HostFilesystem,
  type KeptFiles,
  openCheckpointStore,
  openHostCheckpointLog,
  type RootIdentity,
  resource,
  rootIdentity,
  type ToolCheckpoint,
  withoutInner,
} from '@signalbox/state';
import * as z from 'zod';
import { namesIn } from '../names-in.ts';

/** A tool call, from its checkpoint without snapshots. */
export interface CheckpointFacts {
  readonly call: string;
  readonly tool: string;
  readonly task: string;
  readonly outcome: 'succeeded' | 'failed' | 'unknown';
  readonly at: Timestamp;
  readonly elapsedMs: number | null;
  readonly summary: string | null;
  /** Whether files changed. */
  readonly changesFiles: boolean;
  /** The digests of the files before and after it. */
  readonly before: Digest | undefined;
  readonly after: Digest | undefined;
  /** Whether its tool may also have had effects that restoring files does not undo. */
  readonly beyond: boolean;
  /** The directory that the call worked in, if known. */
  readonly root: string | undefined;
  /** The identity of that directory, as opposed to another at its path. */
  readonly place: RootIdentity | undefined;
  /** What its rollback overwrote or removed. */
  readonly kept: KeptFiles | undefined;
  /** The call whose program made it, such as an agent's turn. Its changes are among those of that call. */
  readonly within?: string | undefined;
  readonly file: string;
}

const keptFiles = z.strictObject({ digest, paths: z.array(z.string()).readonly() });
const tree = z.looseObject({ root: digest });
const snapshot = z.looseObject({ resources: z.looseObject({ [filesystem.name]: tree.optional() }) });
const innerCall = z.looseObject({
  id: z.string(),
  tool: z.string(),
  outcome: z.enum(['succeeded', 'failed']),
  summary: z.string().nullable(),
  elapsedMs: z.number(),
  at: timestamp,
});
const line = z.looseObject({
  toolCallId: z.string(),
  toolName: z.string(),
  outcome: z.enum(['succeeded', 'failed', 'unknown']),
  resultSummary: z.string().nullable(),
  elapsedMs: z.number().nullable(),
  recordedAt: timestamp,
  pre: snapshot,
  post: snapshot.nullable(),
  kept: keptFiles.optional(),
  stretches: z.array(z.looseObject({ call: innerCall.optional(), before: tree, after: tree })).optional(),
});

/** The folder with the checkpoints of a run's tool calls. */
export function checkpointFolder(dataDirectory: string, run: string): string {
  return path.join(dataDirectory, 'checkpoints', run);
}

/**
 * The calls whose checkpoints are in a folder, in the order in which they ended; a torn line is left out. A call whose changes were held
 * has another line when they are applied, which counts. Calls that the program of a call made are listed before it.
 */
export function readCheckpoints(folder: string): readonly CheckpointFacts[] {
  const all = new Map(checkpointsIn(folder).map(one => [`${one.task} ${one.call}`, one]));
  return [...all.values()].toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/** The same without calls that the program of another call made: each change is in one of them. */
export function readOuterCheckpoints(folder: string): readonly CheckpointFacts[] {
  return readCheckpoints(folder).filter(({ within }) => within === undefined);
}

function checkpointsIn(folder: string): readonly CheckpointFacts[] {
  return namesIn(folder)
    .filter(name => name.endsWith('.jsonl'))
    .flatMap(name => {
      const task = name.slice(0, -'.jsonl'.length);
      const file = path.join(folder, name);
      const place = readPlace(folder, task);
      return (textOf(file) ?? '').split('\n').flatMap(text => {
        const read = line.safeParse(parsedJson(text));
        if (!read.success) return [];
        const { toolCallId, toolName, outcome, recordedAt, elapsedMs, resultSummary, pre, post, kept } = read.data;
        const where = { task, file, root: place?.root, place: place?.place };
        const inner = (read.data.stretches ?? []).flatMap(({ call, before: from, after: to }): CheckpointFacts[] => {
          if (call === undefined) return [];
          const { id, tool, ...rest } = call;
          const known = { outcome: rest.outcome, at: rest.at, elapsedMs: rest.elapsedMs, summary: rest.summary };
          const changes = { changesFiles: true, beyond: false, before: from.root, after: to.root, kept: undefined };
          return [{ call: id, tool, within: toolCallId, ...known, ...changes, ...where }];
        });
        const before = pre.resources[filesystem.name]?.root;
        const after = post?.resources[filesystem.name]?.root;
        const changesFiles = after !== undefined && before !== after;
        const facts = { outcome, at: recordedAt, elapsedMs, summary: resultSummary, before, after, kept };
        const beyond = place?.beyond.includes(toolName) === true;
        return [...inner, { call: toolCallId, tool: toolName, changesFiles, beyond, ...facts, ...where }];
      });
    });
}

/** A checkpoint with its snapshots, read through the filesystem that they will be restored to. */
export async function readCheckpoint(
  { file, call }: Pick<CheckpointFacts, 'file' | 'call'>,
  files: HostFilesystem,
): Promise<Result<ToolCheckpoint, ErrorEnvelope>> {
  const resources = createResources([resource(filesystem, files)]);
  const store = await openCheckpointStore({ log: openHostCheckpointLog(file), resources });
  if (!store.ok) return store;
  const checkpoint = store.value.get(call);
  return checkpoint === undefined ? err(checkpointUnknown(call, 'pre')) : ok(checkpoint);
}

/** The file changes of one task's calls, read once for all of them, without those of inner calls that were undone. */
export async function readCallChanges(
  {
    file,
    calls,
    undone,
  }: { readonly file: string; readonly calls: readonly string[]; readonly undone: ReadonlySet<string> },
  files: HostFilesystem,
): Promise<Result<ReadonlyMap<string, CallChanges>, ErrorEnvelope>> {
  const resources = createResources([resource(filesystem, files)]);
  const store = await openCheckpointStore({ log: openHostCheckpointLog(file), resources });
  if (!store.ok) return store;
  const found = new Map<string, CallChanges>();
  for (const call of calls) {
    const checkpoint = store.value.get(call);
    if (checkpoint === undefined) return err(checkpointUnknown(call, 'pre'));
    found.set(call, callChanges(withoutInner(checkpoint, undone)));
  }
  return ok(found);
}

/** Where the calls of a task work, and which of its tools may have effects that restoring files does not undo. */
const taskPlace = z.strictObject({
  root: z.string().min(1),
  beyond: z.array(z.string()).readonly(),
  /** The directory that existed when the task started. */
  place: rootIdentity.optional(),
});
export type TaskPlace = z.infer<typeof taskPlace>;

/** Undefined for a task that never had tools. */
export function readPlace(folder: string, task: string): TaskPlace | undefined {
  return taskPlace.safeParse(parsedJson(textOf(path.join(folder, placeFile(task))) ?? '')).data;
}

/** The files that one rollback of a call kept: of a failed call, or of one that a crash interrupted and the next start undid. */
const keptCall = z.strictObject({
  call: z.string(),
  tool: z.string(),
  at: timestamp,
  root: z.string(),
  before: digest,
  kept: keptFiles,
});
export type KeptCall = z.infer<typeof keptCall>;

/**
 * The files that rollbacks of a run's calls kept, oldest first. A call that ran again and was rolled back again appears once for each
 * attempt that kept something.
 */
export function readKept(folder: string): readonly (KeptCall & { readonly task: string })[] {
  const written = namesIn(folder)
    .filter(name => name.endsWith(KEPT))
    .flatMap(name =>
      (textOf(path.join(folder, name)) ?? '').split('\n').flatMap(text => {
        const read = keptCall.safeParse(parsedJson(text));
        return read.success ? [{ ...read.data, task: name.slice(0, -KEPT.length) }] : [];
      }),
    );
  const known = new Set(written.map(one => `${one.task} ${one.call} ${one.kept.digest}`));
  // Checkpoints of older versions are the only record of what a failed call kept.
  const inCheckpoints = checkpointsIn(folder).flatMap(({ call, tool, task, at, root, before, kept }) => {
    if (kept === undefined || root === undefined || before === undefined) return [];
    return known.has(`${task} ${call} ${kept.digest}`) ? [] : [{ call, tool, task, at, root, before, kept }];
  });
  // A process that dies while recording this makes the next one record the same.
  const each = new Map([...inCheckpoints, ...written].map(one => [keyOf(one), one]));
  return [...each.values()].toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function keyOf({ task, call, before, kept }: KeptCall & { readonly task: string }): string {
  return `${task} ${call} ${before} ${kept.digest}`;
}

/** Records kept files, durably, in the folder of the run whose task the call belongs to. */
export function recordKept(checkpoints: string, task: string | undefined, call: KeptCall): void {
  const run = namesIn(checkpoints).find(
    name => task !== undefined && existsSync(path.join(checkpoints, name, placeFile(task))),
  );
  const file = path.join(checkpoints, run ?? '', `${run === undefined ? 'unknown' : task}${KEPT}`);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const isNew = !existsSync(file);
  const fd = openSync(file, 'a', 0o600);
  try {
    // A torn line of a crash must not become the beginning of this one.
    const torn = isNew || readFileSync(file, 'utf8').endsWith('\n') ? '' : '\n';
    writeFileSync(fd, `${torn}${JSON.stringify(call)}\n`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  if (isNew) hostDisk.syncDirectory(path.dirname(file));
}

/** The name is older than the file's other content. */
const KEPT = '.recovered.ndjson';

/** The file of a task's place. */
export function placeFile(task: string): string {
  return `${task}.place.json`;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
