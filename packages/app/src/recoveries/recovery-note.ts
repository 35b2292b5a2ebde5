import { type RecoveryNote, type Timestamp, truncateUtf8 } from '@signalbox/model';
import { chunksOf, type NodeKey, type OwnerId, type RunReader } from '@signalbox/runs';
import type { Recovery } from '@signalbox/state';

const MOST_PATHS = 100;
const MESSAGE_BYTES = 2000;

/** The run and node of a call. */
export type CallPlace = Required<Pick<RecoveryNote, 'run' | 'node'>>;

/** The result of a recovery, for people. */
export function noteOf({ id, tool, outcome }: Recovery, at: Timestamp, place: CallPlace | undefined): RecoveryNote {
  const onDisk = outcome.kind === 'failed' && 'onDisk' in outcome.error ? outcome.error.onDisk : {};
  return {
    id,
    tool,
    at,
    ...place,
    outcome: outcome.kind,
    message: truncateUtf8(wordsOf(outcome).toWellFormed(), MESSAGE_BYTES),
    paths: [...pathLists(outcome), ...pathLists(onDisk), ...keptPaths(outcome)],
  };
}

function wordsOf(outcome: Recovery['outcome']): string {
  switch (outcome.kind) {
    case 'rolled-back':
      return outcome.left.length > 0
        ? 'The call was cut off and rolled back, except for what was changed after it.'
        : 'The call was cut off and rolled back: its directory is as it was before the call.';
    case 'restore-finished':
      return 'The call was cut off while it was being rolled back; the rollback was finished.';
    case 'restore-dropped':
      return 'A restore was cut off before it changed anything, and was dropped.';
    case 'dropped':
      return 'The call was cut off and what it changed was dropped: none of it had been applied, so nothing had to be restored.';
    case 'applied':
      return 'The call had succeeded when it was cut off: everything that it changed is applied.';
    case 'taken-back':
      return outcome.left.length > 0
        ? 'The call was cut off while its changes were applied; they were taken back, except where someone changed the same since.'
        : 'The call was cut off while its changes were applied; they were taken back.';
    case 'outcome-unknown':
      return 'The call was cut off and cannot be rolled back: it may or may not have happened.';
    case 'failed':
      return `The call was cut off and could not be rolled back: ${outcome.error.message}`;
  }
}

function keptPaths(outcome: Recovery['outcome']): RecoveryNote['paths'] {
  return 'kept' in outcome && outcome.kept !== null ? pathLists({ kept: outcome.kept.paths }) : [];
}

/** Every list of paths, by its name. */
function pathLists(from: unknown): RecoveryNote['paths'] {
  return Object.entries(from ?? {}).flatMap(([what, list]) => {
    if (!Array.isArray(list) || list.length === 0 || !list.every(path => typeof path === 'string')) return [];
    const paths = list.slice(0, MOST_PATHS).map(path => path.toWellFormed());
    return [{ what, paths, more: list.length - paths.length }];
  });
}

/** The run and the node of each call, from the last stream of tasks without an owner. */
export async function placesOf(
  calls: readonly string[],
  reader: Pick<RunReader, 'orphans' | 'tasks' | 'stream'>,
  alive: readonly OwnerId[],
): Promise<ReadonlyMap<string, CallPlace>> {
  const places = new Map<string, CallPlace>();
  if (calls.length === 0) return places;
  for (const { run, task } of await reader.orphans(alive)) {
    for await (const { kind, payload } of chunksOf(reader, run, task.id)) {
      if (kind !== 'message') continue;
      const { kind: entry, call } = payload as { readonly kind?: unknown; readonly call?: unknown };
      if (entry === 'tool_begun' && typeof call === 'string' && calls.includes(call)) {
        places.set(call, { run, node: task.node satisfies NodeKey });
      }
    }
  }
  return places;
}
