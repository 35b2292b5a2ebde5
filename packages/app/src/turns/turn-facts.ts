import { nodeKindFacts, type RunId } from '@signalbox/model';
import { everyArtifact, type RunReader, type Task, type TaskId } from '@signalbox/runs';
import { type TurnArtifact, turnArtifactId, turnArtifacts } from './projections/turn-artifact.ts';

type Reads = Pick<RunReader, 'valueAt' | 'artifact' | 'artifactList'>;

/** The derived artifacts of those tasks that are agent turns, in order. Stored diffs are not among them. */
export async function turnsOf(reader: Reads, run: RunId, tasks: readonly Task[]): Promise<readonly TurnArtifact[]> {
  const agents = new Map<string, boolean>();
  const found: TurnArtifact[] = [];
  for (const task of tasks) {
    if (task.effects !== 'undoable') continue;
    const artifacts = turnArtifacts(run, task);
    if (artifacts.length === 0) continue;
    const isAgent = agents.get(task.node) ?? (await isAgentTask(reader, run, task));
    agents.set(task.node, isAgent);
    if (isAgent) found.push(...artifacts);
  }
  if (found.length === 0) return found;
  const kept = await keptDiffs(reader, run);
  return found.filter(({ name, task }) => name !== 'diff.patch' || !kept.has(task));
}

/** The derived artifacts of one turn; empty if the task is not one. */
export async function turnOf(reader: Reads, run: RunId, task: Task): Promise<readonly TurnArtifact[]> {
  // A stored diff usually has this id, which avoids reading all of them.
  const kept = await reader.artifact(turnArtifactId(run, task.id, 'diff.patch'));
  if (kept === undefined) return turnsOf(reader, run, [task]);
  return (await isAgentTask(reader, run, task))
    ? turnArtifacts(run, task).filter(({ name }) => name !== 'diff.patch')
    : [];
}

/** The frame in which the end of a task was handled. */
export function frameOf({ handledFrame }: Task): number {
  return handledFrame ?? Number.MAX_SAFE_INTEGER;
}

/** A plan's task can be undoable too. If the frame was collected, undoable work counts as an agent's. */
async function isAgentTask(reader: Reads, run: RunId, task: Task): Promise<boolean> {
  if (task.effects !== 'undoable') return false;
  const row = await reader.valueAt(run, 'node', task.node, frameOf(task));
  const kind = typeof row === 'object' && row !== null && 'kind' in row ? String(row.kind) : undefined;
  return kind === undefined || nodeKindFacts(kind)?.role === 'agent';
}

/** Tasks whose diff was stored with a workspace. In an imported run it has another id. */
async function keptDiffs(reader: Reads, run: RunId): Promise<ReadonlySet<TaskId>> {
  const found = new Set<TaskId>();
  for await (const { artifact } of everyArtifact(reader, { run, kind: 'diff', versions: 'all' })) {
    if (artifact.task !== undefined && artifact.name === 'diff.patch') found.add(artifact.task);
  }
  return found;
}
