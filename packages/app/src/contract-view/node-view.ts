import { type Node, nodeKindFacts, type RunId, type Timestamp, toContractNodeStatus } from '@signalbox/model';
import type { Task } from '@signalbox/runs';
import type { ReadNode } from './tree-view.ts';

/** The contract's nodes of a plan (R20): every one that does work. */
export function contractNodes(
  run: RunId,
  tree: readonly ReadNode[],
  tasks: readonly Task[],
  startedAt: Timestamp,
): Record<string, Node> {
  const byNode = Map.groupBy(tasks, task => task.node as string);
  return Object.fromEntries(
    tree
      .filter(({ node }) => nodeKindFacts(node.kind)?.provider !== undefined)
      .map(read => [read.node.nodeId, contractNode(run, read, byNode.get(read.node.id) ?? [], startedAt)]),
  );
}

function contractNode(run: RunId, { node, data }: ReadNode, tasks: readonly Task[], startedAt: Timestamp): Node {
  const { provider = 'custom', role } = nodeKindFacts(node.kind) ?? {};
  const isAgent = role === 'agent';
  const works = isAgent || node.kind === 'task';
  return {
    id: node.nodeId,
    runId: run,
    label: node.label,
    roleTemplate: node.kind,
    provider,
    ...(provider === 'custom' && { plugin: typeof data.plugin === 'string' ? data.plugin : node.kind }),
    status: toContractNodeStatus(node.status),
    summary: node.reason === undefined ? node.status : `${node.status}: ${node.reason}`,
    lastActivityAt: tasks.map(lastMoved).reduce((a, b) => (a > b ? a : b), startedAt),
    capabilities: {
      spawnNodes: node.kind === 'subplan',
      writeCode: works,
      writeDocs: works,
      runCommands: works,
      delegateOnly: node.kind === 'subplan',
    },
    permissions: { cliPermissionsMode: isAgent ? 'gated' : 'skip', spawnRequiresApproval: true },
    session: { sessionId: '', resetCommands: [] },
    inboxCount: 0,
  };
}

function lastMoved({ createdAt, startedAt, heartbeatAt, endedAt }: Task): Timestamp {
  return endedAt ?? heartbeatAt ?? startedAt ?? createdAt;
}
