import { nodeKindFacts, type RunId } from '@signalbox/model';
import { everyArtifact, type RunReader, type Task, type TaskId } from '@signalbox/runs';
import { type TurnArtifact, turnArtifactId, turnArtifacts } from './projections/turn-artifact.ts';

type Reads = Pick<RunReader, 'valueAt' | 'artifact' | 'artifactList'>;

/** What follows from those of some tasks that are turns of agents, in their order. A diff that was kept is not among it. */
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

/** What follows from one turn; nothing where the task is none. */
export async function turnOf(reader: Reads, run: RunId, task: Task): Promise<readonly TurnArtifact[]> {
  // Where it was kept, it mostly has this id: no need to go through all of them.
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

/** A task of a plan can be undoable too. Where the frame was collected, what is undoable counts as an agent's. */
async function isAgentTask(reader: Reads, run: RunId, task: Task): Promise<boolean> {
  if (task.effects !== 'undoable') return false;
  const row = await reader.valueAt(run, 'node', task.node, frameOf(task));
  const kind = typeof row === 'object' && row !== null && 'kind' in row ? String(row.kind) : undefined;
  return kind === undefined || nodeKindFacts(kind)?.role === 'agent';
}

/** Tasks whose diff was kept with the files of a workspace. In a run that was imported it has another id. */
async function keptDiffs(reader: Reads, run: RunId): Promise<ReadonlySet<TaskId>> {
  const found = new Set<TaskId>();
  for await (const { artifact } of everyArtifact(reader, { run, kind: 'diff', versions: 'all' })) {
    if (artifact.task !== undefined && artifact.name === 'diff.patch') found.add(artifact.task);
  }
  return found;
}
