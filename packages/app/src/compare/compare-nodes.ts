import { isWorkKind, type NodePair } from '@signalbox/model';
import type { RunReader, RunRecord, Task } from '@signalbox/runs';
import { type ReadNode, readTree } from '../contract-view/tree-view.ts';

type Work = NonNullable<NodePair['a']>;

/** Less than this is no difference in time. */
const NOISE_MS = 1_000;

/** The work of both runs, node by node: what has another status, another number of attempts or turns, or took much longer. */
export async function compareNodes(
  reader: RunReader,
  a: RunRecord,
  b: RunRecord,
  now: number,
): Promise<readonly NodePair[]> {
  const [left, right] = [await workOf(reader, a, now), await workOf(reader, b, now)];
  const nodes = [...new Map([...left.nodes, ...right.nodes])];
  return nodes.flatMap(([node, { kind, label }]): readonly NodePair[] => {
    const [one, other] = [left.work.get(node), right.work.get(node)];
    if (isAlike(one, other)) return [];
    return [{ node, kind, label, ...(one !== undefined && { a: one }), ...(other !== undefined && { b: other }) }];
  });
}

function isAlike(a: Work | undefined, b: Work | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const isAsLong = Math.abs(a.ms - b.ms) <= Math.max(NOISE_MS, Math.min(a.ms, b.ms));
  return (
    isAsLong && a.status === b.status && a.attempts === b.attempts && a.iteration === b.iteration && a.error === b.error
  );
}

async function workOf(reader: RunReader, { id, frames }: RunRecord, now: number) {
  const tree = await readTree(reader, id, Math.max(0, frames - 1));
  const tasks = Map.groupBy(await reader.tasks(id), ({ node }) => String(node));
  const nodes = new Map<string, ReadNode['node']>();
  const work = new Map<string, Work>();
  for (const { node } of tree) {
    const own = tasks.get(node.id) ?? [];
    if (!isWorkKind(node.kind) && own.length === 0) continue;
    nodes.set(node.id, node);
    const error = own.at(-1)?.lastError?.message;
    work.set(node.id, {
      status: node.status,
      ms: own.reduce((sum, task) => sum + durationOf(task, now), 0),
      attempts: own.reduce((sum, { retryCount }) => sum + retryCount + 1, 0),
      iteration: node.iteration,
      ...(error !== undefined && { error }),
    });
  }
  return { nodes, work };
}

function durationOf({ startedAt, endedAt, status }: Task, now: number): number {
  if (startedAt === undefined) return 0;
  if (endedAt === undefined && status !== 'running') return 0;
  return Math.max(0, (endedAt === undefined ? now : Date.parse(endedAt)) - Date.parse(startedAt));
}
