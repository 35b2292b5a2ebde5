import type { StoredEvent } from '@signalbox/app/runs';

/** What is known of a node beyond its status: of its last task. Times are milliseconds. */
export interface NodeFacts {
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly round: number;
  readonly attempt: number;
  /** When it is tried again, and what went wrong. */
  readonly retryAt?: number;
  readonly error?: string;
  readonly blocked?: string;
  /** The end of what it said, or how far it says that it is. */
  readonly said?: string;
}

/** What has happened in a run, as far as a person who watches wants to know. */
export interface LiveFacts {
  readonly startedAt: number | undefined;
  readonly nodes: ReadonlyMap<string, NodeFacts>;
  /** Whose tasks are whose, for what agents say. */
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

/** A part of what an agent says while it works. */
export interface Saying {
  readonly task: string;
  readonly kind: string;
  readonly payload: unknown;
}

/** The facts after some events and some sayings; the facts before stay as they are. */
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

/** More of a line than any terminal shows is not kept. */
const LONGEST = 400;

function sayingOf(text: string): Partial<NodeFacts> {
  return text.trim() === '' ? {} : { said: text.slice(-LONGEST) };
}

/** The text in a piece of JSON of which only its sender knows the shape. */
function textOf(payload: unknown): string {
  if (typeof payload === 'string') return payload;
  if (typeof payload !== 'object' || payload === null) return '';
  const { summary, fraction, text, delta, content, name, tool } = payload as Readonly<Record<string, unknown>>;
  if (typeof summary === 'string')
    return typeof fraction === 'number' ? `${Math.round(fraction * 100)} % ${summary}` : summary;
  return [text, delta, content, name, tool].find(part => typeof part === 'string') ?? '';
}
