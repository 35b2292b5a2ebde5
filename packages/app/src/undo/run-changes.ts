import type { ChangedPath, Digest, RunChanges, Timestamp } from '@signalbox/model';
import type { RunReader, RunRecord } from '@signalbox/runs';
import { sameNode, type TreeNode } from '@signalbox/state';
import { stretchesOf } from '../turns/turn-changes.ts';
import { type Contents, changedLeaves } from '../workspaces/snapshot-diff.ts';
import { type CheckpointFacts, readOuterCheckpoints } from './checkpoint-files.ts';
import { callCheckpoints } from './undo-desk.ts';

export interface RunChangesPorts {
  readonly reader: Pick<RunReader, 'tasks' | 'decisions' | 'events' | 'frame'>;
  readonly contents: Contents;
  /** The folder with the checkpoints of the run's calls. */
  readonly folder: string;
}

export interface ChangesAsked {
  /** Of one node only. */
  readonly node?: string | undefined;
  /** Up to the end of this frame. */
  readonly frame?: number | undefined;
}

/**
 * Everything that the tool calls of a run changed in files, wherever they worked: for each path its content before the first change and
 * after the last. Calls that were undone or are held are left out, and so is a path that is as it was.
 */
export async function runChanges(
  { reader, contents, folder }: RunChangesPorts,
  run: Pick<RunRecord, 'id'>,
  { node, frame }: ChangesAsked = {},
): Promise<RunChanges> {
  const known = new Map((await callCheckpoints(reader, folder, run)).map(one => [`${one.task} ${one.call}`, one]));
  const until = frame === undefined ? undefined : (await reader.frame(run.id, frame + 1))?.at;
  const calls = readOuterCheckpoints(folder).filter(({ task, call, at }) => {
    const one = known.get(`${task} ${call}`);
    const isThere = one !== undefined && !one.undone && one.outcome !== 'held';
    return isThere && (node === undefined || one.node === node) && isBefore(at, until);
  });
  const unknown: string[] = [];
  const directories: { directory: string; files: readonly ChangedPath[] }[] = [];
  let room = ROOM;
  for (const [directory, own] of Map.groupBy(calls, ({ root }) => root ?? '')) {
    const paths = await foldedPaths(contents, own, unknown);
    const files: ChangedPath[] = [];
    for (const [path, { before, after }] of [...paths].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (sameNode(before, after)) continue;
      const change = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
      const sides = room > 0 ? await sidesOf(contents, before, after) : { why: 'too-many' as const };
      if ('before' in sides) room -= sides.before.length + sides.after.length;
      files.push({ path, change, ...sides });
    }
    if (files.length > 0) directories.push({ directory, files });
  }
  return { directories, unknown };
}

/** How many characters are sent at most: the rest is only named. */
const ROOM = 2_000_000;
/** A longer text is only named. */
const LONGEST = 200_000;

interface Sides {
  readonly before: TreeNode | undefined;
  after: TreeNode | undefined;
}

/** Each path with what it was before the first of the calls that changed it, and after the last. */
async function foldedPaths(
  contents: Contents,
  calls: readonly CheckpointFacts[],
  unknown: string[],
): Promise<ReadonlyMap<string, Sides>> {
  const paths = new Map<string, Sides>();
  for (const { from, to } of stretchesOf(calls)) {
    const found = await changedLeaves(contents, from, to);
    if (!found.ok) {
      unknown.push(found.error.message);
      continue;
    }
    for (const { path, before, after } of found.value) {
      const first = paths.get(path);
      if (first === undefined) paths.set(path, { before, after });
      else first.after = after;
    }
  }
  return paths;
}

type Shown =
  | { readonly before: string; readonly after: string }
  | { readonly why: 'not-text' | 'too-large' | 'too-many' | 'gone' };

/** Both sides as text, or why they are not shown. */
async function sidesOf(contents: Contents, before: TreeNode | undefined, after: TreeNode | undefined): Promise<Shown> {
  const old = await textOf(contents, before);
  if (typeof old !== 'string') return old;
  const now = await textOf(contents, after);
  return typeof now === 'string' ? { before: old, after: now } : now;
}

async function textOf(
  contents: Contents,
  node: TreeNode | undefined,
): Promise<string | { readonly why: 'not-text' | 'too-large' | 'gone' }> {
  if (node === undefined) return '';
  if (node.kind === 'link') return `link to ${node.target.toWellFormed()}\n`;
  if (node.kind !== 'file') return { why: 'not-text' };
  if (node.digest === null) return '';
  const read = await contents.get(node.digest as Digest);
  if (!read.ok) return { why: 'gone' };
  if (read.value.length > LONGEST) return { why: 'too-large' };
  try {
    const text = utf8.decode(read.value);
    return text.includes('\0') ? { why: 'not-text' } : text;
  } catch {
    return { why: 'not-text' };
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function isBefore(at: Timestamp, until: Timestamp | undefined): boolean {
  return until === undefined || at < until;
}
