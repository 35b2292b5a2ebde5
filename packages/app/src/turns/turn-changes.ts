import { existsSync } from 'node:fs';
import path from 'node:path';
import type { DiffMetadata, Digest } from '@signalbox/model';
import type { TaskId } from '@signalbox/runs';
import { CHECKPOINTS_KEPT } from '@signalbox/state';
import { placeFile, readOuterCheckpoints } from '../undo/checkpoint-files.ts';
import { type Contents, notShown, snapshotDiff } from '../workspaces/snapshot-diff.ts';

export interface TurnChanges {
  readonly diff: DiffMetadata;
  readonly patch: string;
}

/**
 * The file changes of a turn's tool calls, from the snapshots around them. Changes by others between two calls are excluded: then there is
 * a patch before them and one after. Unknown changes are noted as such.
 */
export async function turnChanges(contents: Contents, folder: string, task: TaskId): Promise<TurnChanges> {
  if (!existsSync(path.join(folder, placeFile(task)))) {
    return unknown('The snapshots of its tool calls are missing: they were collected or are on another machine.');
  }
  const calls = readOuterCheckpoints(folder).filter(call => call.task === task);
  const files = new Set<string>();
  const patches: string[] = [];
  for (const { from, to } of stretchesOf(calls)) {
    const diff = await snapshotDiff(contents, from, to);
    if (!diff.ok) return unknown(`The snapshots of its tool calls cannot be compared. ${diff.error.message}`);
    for (const file of diff.value.files) files.add(file.path);
    const isShown = diff.value.patch !== '' || diff.value.files.length === 0;
    patches.push(isShown ? diff.value.patch : notes(diff.value.files.map(file => `${file.change}: ${file.path}`)));
    patches.push(await notShown(contents, from, to));
  }
  const isPartial = calls.length >= CHECKPOINTS_KEPT;
  const filesChanged = [...files].sort();
  const counted =
    filesChanged.length === 0
      ? 'no changes'
      : `${filesChanged.length} ${filesChanged.length === 1 ? 'file' : 'files'} changed`;
  return {
    diff: { filesChanged, summary: isPartial ? `${counted} by its last ${calls.length} calls` : counted },
    patch: [
      ...(isPartial
        ? [notes([`Only its last ${calls.length} calls are kept; earlier ones may have changed more.`])]
        : []),
      ...patches,
    ].join(''),
  };
}

interface Stretch {
  readonly from: Digest;
  readonly to: Digest;
}

/** Consecutive calls, each of which found what the previous one left, are compared as one. */
export function stretchesOf(
  calls: readonly { readonly before: Digest | undefined; readonly after: Digest | undefined }[],
): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (const { before, after } of calls) {
    if (before === undefined || after === undefined || before === after) continue;
    const last = stretches.at(-1);
    if (last?.to === before) stretches[stretches.length - 1] = { from: last.from, to: after };
    else stretches.push({ from: before, to: after });
  }
  return stretches;
}

function unknown(why: string): TurnChanges {
  return { diff: { filesChanged: [], summary: `not known: ${why}` }, patch: notes([why]) };
}

/** Lines that no patch reader takes for a change. */
function notes(lines: readonly string[]): string {
  return lines.map(line => `# ${line.replace(/\s+/g, ' ')}\n`).join('');
}
