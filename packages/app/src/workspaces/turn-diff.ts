import { nodeHasher } from '@signalbox/journal';
import { type ArtifactId, type Digest, deriveId, digest, type RunId } from '@signalbox/model';
import { type Blobs, keepArtifact, type RunReader, type Task, type WriteSet } from '@signalbox/runs';
import { snapshotDiff } from './snapshot-diff.ts';

/** The prefix of a task id: the snapshot of the files that it started with. */
const TASK = 'task:';

export interface TurnPorts {
  readonly reader: RunReader;
  readonly blobs: Pick<Blobs, 'get' | 'put'>;
}

/**
 * Adds the file changes of agents. The commit in which an agent's work starts gets the snapshot that it starts with, and the one in which
 * it succeeds gets the difference, as an artifact of its node, even if empty. An interrupted agent counts from its first start.
 */
export async function withTurnDiffs(
  { reader, blobs }: TurnPorts,
  writes: WriteSet,
  run: RunId,
  now: Digest,
): Promise<WriteSet> {
  const { frame, tasks = [] } = writes;
  const ofAgents = tasks.filter(({ effects }) => effects === 'undoable');
  if (frame === undefined || ofAgents.length === 0) return writes;
  const refOf = async ({ id }: Task) => {
    const ref = digest.safeParse(await reader.valueAt(run, 'workspace', TASK + id, frame.index));
    return ref.success ? ref.data : undefined;
  };
  const added: { -readonly [Part in 'intervals' | 'artifacts' | 'events']: NonNullable<WriteSet[Part]>[number][] } = {
    intervals: [],
    artifacts: [],
    events: [],
  };
  for (const task of ofAgents) {
    const from = await refOf(task);
    if (task.status === 'running' && from === undefined) {
      const change = { kind: 'set', value: now } as const;
      added.intervals.push({ space: 'workspace', key: TASK + task.id, fromFrame: frame.index, change });
    }
    if (task.status !== 'done' || from === undefined) continue;
    const diff = await snapshotDiff(blobs, from, now);
    if (!diff.ok) continue;
    const { files, patch } = diff.value;
    const filesChanged = files.map(({ path }) => path);
    const summary =
      files.length === 0 ? 'no changes' : `${files.length} ${files.length === 1 ? 'file' : 'files'} changed`;
    const draft = { kind: 'diff', name: 'diff.patch', mimeType: 'text/x-diff', content: patch } as const;
    const id = deriveId<ArtifactId>('turn-diff', run, task.id);
    const place = { run, node: task.node, task: task.id };
    const kept = keepArtifact(id, { ...draft, diff: { filesChanged, summary } }, place, writes.at, nodeHasher);
    if (kept.blob !== undefined && !(await blobs.put([kept.blob])).ok) continue;
    added.artifacts.push(kept.record);
    added.events.push(kept.event);
  }
  return {
    ...writes,
    ...(added.intervals.length > 0 && { intervals: [...(writes.intervals ?? []), ...added.intervals] }),
    ...(added.artifacts.length > 0 && { artifacts: [...(writes.artifacts ?? []), ...added.artifacts] }),
    ...(added.events.length > 0 && { events: [...(writes.events ?? []), ...added.events] }),
  };
}
