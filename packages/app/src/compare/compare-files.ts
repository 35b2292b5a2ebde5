import type { Digest, FilePair, RunComparison } from '@signalbox/model';
import type { RunRecord } from '@signalbox/runs';
import { stretchesOf } from '../turns/turn-changes.ts';
import { checkpointFolder, readOuterCheckpoints } from '../undo/checkpoint-files.ts';
import { type ChangedFile, changedFiles } from '../workspaces/snapshot-diff.ts';
import { workspaceAt } from '../workspaces/workspace-ref.ts';
import type { ComparePorts } from './compare-runs.ts';

/** The files that each run changed: those of its workspace, and those of its tool calls wherever they worked. */
export async function compareFiles(
  ports: ComparePorts,
  a: RunRecord,
  b: RunRecord,
): Promise<Pick<RunComparison, 'files' | 'filesUnknown'>> {
  const [left, right] = [await filesOf(ports, a), await filesOf(ports, b)];
  const paths = [...new Set([...left.files.keys(), ...right.files.keys()])].toSorted();
  const files = paths.flatMap((path): readonly FilePair[] => {
    const [one, other] = [left.files.get(path), right.files.get(path)];
    const same = one !== undefined && one.change === other?.change && one.content === other.content;
    return [{ path, ...(one && { a: one.change }), ...(other && { b: other.change }), same }];
  });
  const filesUnknown = left.fault ?? right.fault;
  return { files, ...(filesUnknown !== undefined && { filesUnknown }) };
}

interface Changed {
  readonly files: ReadonlyMap<string, ChangedFile & { readonly content: string }>;
  readonly fault?: string | undefined;
}

async function filesOf({ reader, contents, dataDirectory }: ComparePorts, run: RunRecord): Promise<Changed> {
  const files = new Map<string, ChangedFile & { readonly content: string }>();
  let fault: string | undefined;
  const add = async (from: Digest, to: Digest) => {
    const changed = await changedFiles(contents, from, to);
    if (!changed.ok) {
      fault = changed.error.message;
      return;
    }
    for (const file of changed.value) {
      const before = files.get(file.path);
      files.set(
        file.path,
        before?.change === 'added' && file.change === 'changed' ? { ...file, change: 'added' } : file,
      );
    }
  };
  if (run.workspace !== undefined) {
    const [from, to] = [
      await workspaceAt(reader, run.id, 0),
      await workspaceAt(reader, run.id, Math.max(0, run.frames - 1)),
    ];
    if (from !== undefined && to !== undefined) await add(from, to);
  }
  const calls = Map.groupBy(readOuterCheckpoints(checkpointFolder(dataDirectory, run.id)), ({ task }) => task);
  for (const own of calls.values()) for (const { from, to } of stretchesOf(own)) await add(from, to);
  return { files, fault };
}
