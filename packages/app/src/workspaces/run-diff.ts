import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import type { Blobs, RunReader, RunRecord } from '@signalbox/runs';
import { type SnapshotDiff, snapshotDiff } from './snapshot-diff.ts';
import { workspaceAt } from './workspace-ref.ts';

/** A run's changes in its workspace, from its first frame to another one; the last by default. */
export async function runDiff(
  { reader, blobs }: { readonly reader: RunReader; readonly blobs: Pick<Blobs, 'get'> },
  { id, frames, workspace }: RunRecord,
  frame?: number,
): Promise<Result<SnapshotDiff & { readonly frame: number }, ErrorEnvelope>> {
  const asked = frame ?? Math.max(0, frames - 1);
  if (workspace === undefined) return err(none(`Run ${id} has no workspace`));
  if (asked >= Math.max(1, frames)) return err(unknownFrame(id, frames));
  const [from, to] = [await workspaceAt(reader, id, 0), await workspaceAt(reader, id, asked)];
  if (from === undefined || to === undefined)
    return err(none(`The files of run ${id} at frame ${asked} were not kept`));
  const diff = await snapshotDiff(blobs, from, to);
  return diff.ok ? ok({ ...diff.value, frame: asked }) : diff;
}

function none(why: string): ErrorEnvelope<'workspace/none'> {
  return failure('workspace/none', {
    message: `${why}.`,
    suggestion: 'A plan asks for one with `workspace: true` in its definition.',
  });
}

function unknownFrame(run: string, frames: number): ErrorEnvelope<'run/frame-unknown'> {
  return failure('run/frame-unknown', {
    message: `Run ${run} has no such frame; it has ${frames} frames.`,
    suggestion: 'Frames are numbered from 0.',
    details: { run, frames },
  });
}
