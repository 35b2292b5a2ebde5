import { type Node, nodeKindFacts, type RunId, type Timestamp, toContractNodeStatus } from '@signalbox/model';
import type { Task, TaskId } from '@signalbox/runs';
import * as z from 'zod';
import type { ReadNode } from './tree-view.ts';

/** The contract's nodes of a plan (R20): every one that does work. */
export function contractNodes(
  run: RunId,
  tree: readonly ReadNode[],
  tasks: readonly Task[],
  startedAt: Timestamp,
  connections: ReadonlyMap<TaskId, Connected>,
): Record<string, Node> {
  const byNode = Map.groupBy(tasks, task => task.node as string);
  return Object.fromEntries(
    tree
      .filter(({ node }) => nodeKindFacts(node.kind)?.provider !== undefined)
      .map(read => [
        read.node.nodeId,
        contractNode(run, read, { tasks: byNode.get(read.node.id) ?? [], startedAt, connections }),
      ]),
  );
}

/** An agent at work. */
export interface Connected {
  readonly sessionId: string;
  readonly connection: NonNullable<Node['connection']>;
}

interface NodeFacts {
  readonly tasks: readonly Task[];
  readonly startedAt: Timestamp;
  readonly connections: ReadonlyMap<TaskId, Connected>;
}

function contractNode(run: RunId, { node, data }: ReadNode, { tasks, startedAt, connections }: NodeFacts): Node {
  const { provider = 'custom', role } = nodeKindFacts(node.kind) ?? {};
  const isAgent = role === 'agent';
  const works = isAgent || node.kind === 'task';
  const may = (...names: readonly string[]) => works && (!isAgent || isOffered(data.tools, names));
  const connected = tasks.map(({ id }) => connections.get(id)).findLast(one => one !== undefined);
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
      writeCode: may('write_file', 'edit_file', 'edit'),
      writeDocs: may('write_file', 'edit_file', 'edit'),
      runCommands: may('run_command', 'execute'),
      delegateOnly: node.kind === 'subplan',
    },
    permissions: {
      cliPermissionsMode: isAgent && data.permissions !== 'skip' ? 'gated' : 'skip',
      spawnRequiresApproval: true,
    },
    // An agent's session begins with its turn: there is no command that resets one.
    session: { sessionId: connected?.sessionId ?? '', resetCommands: [] },
    ...(connected && { connection: connected.connection }),
    inboxCount: 0,
  };
}

const policy = z.object({ allow: z.array(z.string()).optional(), deny: z.array(z.string()).optional() });

/** Whether a plan's tools leave one of these names to its agent. */
function isOffered(tools: unknown, names: readonly string[]): boolean {
  const { allow, deny = [] } = policy.safeParse(tools).data ?? {};
  return names.some(name => !deny.includes(name) && (allow === undefined || allow.includes(name)));
}

function lastMoved({ createdAt, startedAt, heartbeatAt, endedAt }: Task): Timestamp {
  return endedAt ?? heartbeatAt ?? startedAt ?? createdAt;
}
