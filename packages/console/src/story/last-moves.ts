import { textOf, type WireEvent } from '@signalbox/model';
import { actWords } from './act-words.ts';
import { reasonWords } from './reason-words.ts';
import { doerOf, nodeStanding, type Signal, statusOf } from './words.ts';

/** One recent action. */
export interface Move {
  readonly seq: number;
  readonly at: string;
  readonly signal: Signal;
  /** The key of its node. */
  readonly node: string | undefined;
  /** The person who acted. */
  readonly who: string | undefined;
  readonly words: string;
  /** The frame that shows it; undefined until there is one. */
  readonly frame: number | undefined;
}

/** The latest actions of nodes, handlers and people, oldest first. */
export function lastMoves(events: readonly WireEvent[], limit: number): readonly Move[] {
  const moves: Move[] = [];
  let frame: number | undefined;
  for (let at = events.length - 1; at >= 0 && moves.length < limit; at -= 1) {
    const event = events[at] as WireEvent;
    if (event.type === 'frame.committed' && typeof event.frame === 'number') frame = event.frame;
    const told = toldOf(event, () => {
      const from = firstOfChange(events, at);
      const changes = events.slice(from, at + 1);
      at = from;
      return changes;
    });
    if (told === undefined) continue;
    const { seq, ts, node } = event;
    moves.push({ seq, at: ts, node: typeof node === 'string' ? node : undefined, who: undefined, frame, ...told });
  }
  return moves.reverse();
}

type Told = Pick<Move, 'signal' | 'words'> & Partial<Pick<Move, 'who'>>;

function toldOf(event: WireEvent, changes: () => readonly WireEvent[]): Told | undefined {
  const act = actWords(event);
  if (act !== undefined) return { signal: 'person', who: doerOf(event) ?? 'somebody', words: act };
  switch (event.type) {
    case 'node.status':
      return { signal: nodeStanding(statusOf(event.to), textOf(event.blockReason)).signal, words: statusWords(event) };
    case 'state.changed':
      return { signal: 'next', words: changeWords(changes()) };
    case 'handler.failed':
      return { signal: 'failed', words: `${event.handler} failed` };
    case 'task.retry': {
      const { message } = (event.error ?? {}) as { readonly message?: unknown };
      const why = typeof message === 'string' ? `: ${message}` : '';
      return { signal: 'held', words: `failed and is retried${why}` };
    }
    default:
      return undefined;
  }
}

function statusWords({ from, to, blockReason }: WireEvent): string {
  switch (statusOf(to)) {
    case 'running':
      return statusOf(from) === 'blocked' ? 'continued' : 'started';
    case 'blocked':
      return typeof blockReason === 'string' ? reasonWords(blockReason) : 'is blocked';
    default:
      return nodeStanding(statusOf(to)).word;
  }
}

/** Where the changes begin that one handler made together. */
function firstOfChange(events: readonly WireEvent[], last: number): number {
  const { node, handler, frame } = events[last] as WireEvent;
  let first = last;
  for (let at = last - 1; at >= 0; at -= 1) {
    const event = events[at];
    const isSame = event?.type === 'state.changed' && event.node === node && event.handler === handler;
    if (!isSame || event.frame !== frame) break;
    first = at;
  }
  return first;
}

/** The changed keys, and the reason if the author gave more than that the work ended. */
function changeWords(changes: readonly WireEvent[]): string {
  const keys = changes.map(({ key, trigger }) =>
    typeof trigger === 'string' && !trigger.endsWith('.finished') ? `${key} (${trigger})` : String(key),
  );
  const handler = changes[0]?.handler;
  return `${typeof handler === 'string' ? `${handler} set` : 'set'} ${[...new Set(keys)].join(', ')}`;
}
