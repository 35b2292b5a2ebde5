import type { AnyEvent } from '@signalbox/runs';
import { errorText } from './phrases.ts';
import type { WhyAnswer } from './why-facts.ts';

type Event<Type extends AnyEvent['type']> = Extract<AnyEvent, { readonly type: Type }>;
type Started = Event<'task.started'>;

/**
 * Why a node ran each time after the first: a retry, another iteration, interrupted work, an operator, a node that had left the plan, or
 * other work. If the log has none of these between two starts, the answer says so.
 */
export function startsAfterFirst(node: string, events: readonly AnyEvent[]): readonly WhyAnswer[] {
  const answers: WhyAnswer[] = [];
  let before: Started | undefined;
  let cause: Cause | undefined;
  for (const event of events) {
    if (event.type === 'task.started' && event.node === node) {
      if (before !== undefined) answers.push(answerOf(before, event, cause));
      before = event;
      cause = undefined;
    } else cause = strongest(cause, causeIn(event, node));
  }
  return answers;
}

interface Cause {
  readonly rank: number;
  readonly event: AnyEvent;
}

/** What between two starts explains the second; a person's action takes precedence over its consequences. */
function causeIn(event: AnyEvent, node: string): Cause | undefined {
  switch (event.type) {
    case 'operator.acted':
      return event.action === 'retry' && event.node === node ? { rank: 4, event } : undefined;
    case 'task.orphaned':
      return event.node === node ? { rank: 3, event } : undefined;
    case 'task.retry':
      return event.node === node ? { rank: 2, event } : undefined;
    case 'node.status':
      // Blocked work is called again when it may be able to continue.
      return event.node === node && event.to === 'blocked' ? { rank: 1, event } : undefined;
    default:
      return undefined;
  }
}

function strongest(a: Cause | undefined, b: Cause | undefined): Cause | undefined {
  return b === undefined || (a !== undefined && a.rank > b.rank) ? a : b;
}

function answerOf(before: Started, now: Started, cause: Cause | undefined): WhyAnswer {
  const answer = (text: string): WhyAnswer => ({ topic: 'again', text, at: now.ts, seq: now.seq });
  const event = cause?.event;
  switch (event?.type) {
    case 'operator.acted':
      return answer(`It ran again because ${event.by} asked for a retry.`);
    case 'task.orphaned':
      return answer(`It started again because its process ended first (${event.action}).`);
    case 'task.retry':
      return answer(`It was retried (attempt ${now.attempt}) after ${errorText(event.error)}.`);
    case 'node.status':
      return answer(
        `It was asked again after it was blocked${event.blockReason === undefined ? '' : ` (${event.blockReason})`}.`,
      );
    default:
  }
  if (now.iteration !== before.iteration) return answer(`It ran again in turn ${now.iteration + 1} of its loop.`);
  if (now.task !== before.task) {
    return answer('It ran again as new work: something it depends on, such as its prompt or input, had changed.');
  }
  return {
    topic: 'unknown',
    text: `It ran again at event ${now.seq}, and the log does not say why.`,
    at: now.ts,
    seq: now.seq,
  };
}

/** The failed attempts of a node, oldest first. */
export function failedAttempts(node: string, events: readonly AnyEvent[]): readonly WhyAnswer[] {
  return events.flatMap((event): readonly WhyAnswer[] => {
    if (event.type === 'task.retry' && event.node === node) {
      const text = `Attempt ${event.attempt} failed with ${errorText(event.error)}; the next was due at ${event.retryAt}.`;
      return [{ topic: 'attempt', text, at: event.ts, seq: event.seq, thrown: event.error.thrown }];
    }
    if (event.type === 'task.ended' && event.node === node && event.outcome === 'error') {
      const text = `Attempt ${event.attempt} failed with ${errorText(event.error)}, and was the last.`;
      return [{ topic: 'attempt', text, at: event.ts, seq: event.seq, thrown: event.error?.thrown }];
    }
    if (event.type === 'handler.failed' && event.node === node) {
      const text = `Its handler ${event.handler} failed in frame ${event.frame}: ${event.error}.`;
      return [{ topic: 'attempt', text, at: event.ts, seq: event.seq, thrown: event.thrown }];
    }
    return [];
  });
}
