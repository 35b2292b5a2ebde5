import type { StoredEvent } from '@signalbox/app/host';

/** Facts about a node's last task, beyond its status. Times are in milliseconds. */
export interface NodeFacts {
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly round: number;
  readonly attempt: number;
  /** When it is retried, and why it failed. */
  readonly retryAt?: number;
  readonly error?: string;
  readonly blocked?: string;
  /** The end of its output, or its reported progress. */
  readonly said?: string;
}

/** The facts of a run that a person watching it wants to see. */
export interface LiveFacts {
  readonly startedAt: number | undefined;
  readonly nodes: ReadonlyMap<string, NodeFacts>;
  /** The node of each task, to attribute agents' output. */
  readonly nodeOfTask: ReadonlyMap<string, string>;
  readonly done: number;
  readonly failed: number;
  readonly retries: number;
}

export const NO_FACTS: LiveFacts = {
  startedAt: undefined,
  nodes: new Map(),
  nodeOfTask: new Map(),
  done: 0,
  failed: 0,
  retries: 0,
};

/** A piece of an agent's output while it works. */
export interface Saying {
  readonly task: string;
  readonly kind: string;
  readonly payload: unknown;
}

/** Returns new facts with these events and output applied; the old facts are not changed. */
export function factsAfter(
  before: LiveFacts,
  events: readonly StoredEvent[],
  sayings: readonly Saying[] = [],
): LiveFacts {
  if (events.length === 0 && sayings.length === 0) return before;
  const nodes = new Map(before.nodes);
  const nodeOfTask = new Map(before.nodeOfTask);
  let { startedAt, done, failed, retries } = before;
  const change = (node: string, facts: Partial<NodeFacts>) =>
    nodes.set(node, { ...(nodes.get(node) ?? { round: 0, attempt: 1 }), ...facts });
  for (const { event } of events) {
    const at = Date.parse(event.ts);
    startedAt ??= at;
    switch (event.type) {
      case 'task.started':
        nodeOfTask.set(event.task, event.node);
        nodes.set(event.node, { startedAt: at, round: event.iteration, attempt: event.attempt });
        break;
      case 'task.ended':
        if (event.outcome === 'done') done += 1;
        if (event.outcome === 'error') failed += 1;
        change(event.node, {
          endedAt: at,
          ...(event.error !== undefined && { error: event.error.message }),
        });
        break;
      case 'task.retry':
        retries += 1;
        change(event.node, { retryAt: Date.parse(event.retryAt), error: event.error.message });
        break;
      case 'task.progressed':
        change(event.node, sayingOf(textOf(event.detail)));
        break;
      case 'node.status':
        if (event.to === 'blocked') change(event.node, { blocked: event.blockReason ?? 'blocked' });
        break;
      default:
        break;
    }
  }
  for (const { task, kind, payload } of sayings) {
    const node = nodeOfTask.get(task);
    if (node === undefined || kind === 'tool_end') continue;
    const before = kind === 'token' ? (nodes.get(node)?.said ?? '') : '';
    change(node, sayingOf(before + textOf(payload)));
  }
  return { startedAt, nodes, nodeOfTask, done, failed, retries };
}

/** Keeps no more of a line than a terminal can show. */
const LONGEST = 400;

function sayingOf(text: string): Partial<NodeFacts> {
  return text.trim() === '' ? {} : { said: text.slice(-LONGEST) };
}

/** The text in JSON of unknown shape. */
function textOf(payload: unknown): string {
  if (typeof payload === 'string') return payload;
  if (typeof payload !== 'object' || payload === null) return '';
  const { summary, fraction, text, delta, content, name, tool } = payload as Readonly<Record<string, unknown>>;
  if (typeof summary === 'string')
    return typeof fraction === 'number' ? `${Math.round(fraction * 100)} % ${summary}` : summary;
  return [text, delta, content, name, tool].find(part => typeof part === 'string') ?? '';
}
