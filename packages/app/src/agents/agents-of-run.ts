import type { RunId } from '@signalbox/model';
import type { RunReader, Task } from '@signalbox/runs';
import * as z from 'zod';

/** The agent that did a node's work last: an installed one, or the one that comes along. */
export interface AgentOfNode {
  /** The agent's name; `builtin` for the one that comes along. */
  readonly id: string;
  /** For people: "Claude Code 0.99.1", "the built-in agent on anthropic:claude-sonnet-5-5". */
  readonly words: string;
}

const begun = z.object({
  kind: z.literal('begun'),
  model: z.string(),
  agent: z.object({ id: z.string(), title: z.string(), version: z.string() }).optional(),
});

/** The agent that an entry of a transcript says begins; undefined for any other entry. */
export function agentIn(entry: unknown): AgentOfNode | undefined {
  const read = begun.safeParse(entry);
  if (!read.success) return undefined;
  const { agent, model } = read.data;
  if (agent === undefined) return { id: 'builtin', words: `the built-in agent on ${model}` };
  return { id: agent.id, words: `${agent.title} ${agent.version}` };
}

/** Chunks of a task that are looked at: an agent begins before it says anything. */
const LOOK = 50;

/** By node, from the transcripts of its last task. */
export async function agentsOfRun(
  reader: Pick<RunReader, 'tasks' | 'stream'>,
  run: RunId,
): Promise<ReadonlyMap<string, AgentOfNode>> {
  const last = new Map<string, Task>();
  for (const task of await reader.tasks(run, { effects: ['undoable'] })) last.set(task.node, task);
  const found = new Map<string, AgentOfNode>();
  for (const { id, node } of last.values()) {
    const chunks = await reader.stream(run, id, 0, LOOK);
    const agent = chunks.flatMap(({ kind, payload }) => (kind === 'message' ? (agentIn(payload) ?? []) : [])).at(-1);
    if (agent !== undefined) found.set(node, agent);
  }
  return found;
}
