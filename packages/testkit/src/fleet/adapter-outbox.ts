import {
  type AdapterEvent,
  type AdapterSessionId,
  type AgentEvent,
  type AgentId,
  deriveId,
  type EventId,
  type Json,
  type ReplayRequest,
  type Timestamp,
} from '@signalbox/model';
import type { MockFailure } from './mock-script.ts';

/** How many events an adapter can send again. */
const KEPT = 5000;

export interface AdapterOutbox {
  readonly session: AdapterSessionId;
  /** The sequence of the last event; -1 before the first. */
  lastSequence(): number;
  send(event: AgentEvent, failure?: MockFailure): void;
  /** Sends what was kept back. */
  flush(): void;
  /** Sends a range again, or returns false if part of it is gone. */
  replay(request: ReplayRequest): boolean;
}

/**
 * Sends the events of one adapter session, and makes of them what a bad line or a bad adapter would: lost, doubled, late or malformed ones.
 * An event has its identity before that happens, so that it keeps it.
 */
export function adapterOutbox(line: {
  readonly agentId: AgentId;
  /** Counts the sessions of the agent from 0. */
  readonly number: number;
  readonly now: () => Timestamp;
  readonly sink: (message: unknown) => void;
}): AdapterOutbox {
  const session = deriveId<AdapterSessionId>('mock-session', line.agentId, line.number);
  const kept: AdapterEvent[] = [];
  let held: { readonly message: AdapterEvent; after: number }[] = [];
  let sequence = -1;

  function sendAndRelease(message: Json | AdapterEvent): void {
    line.sink(message);
    held = held.map(waiting => ({ ...waiting, after: waiting.after - 1 }));
    const due = held.filter(({ after }) => after <= 0);
    held = held.filter(({ after }) => after > 0);
    for (const waiting of due) line.sink(waiting.message);
  }

  function envelope(event: AgentEvent): AdapterEvent {
    sequence += 1;
    return {
      sourceEventId: deriveId<EventId>('mock-event', session, sequence),
      sourceSequence: sequence,
      sourceOccurredAt: line.now(),
      runId: session,
      event,
    };
  }

  return {
    session,
    lastSequence: () => sequence,
    send(event, failure) {
      if (failure?.type === 'malformed_event' && failure.isWrapped !== true) return sendAndRelease(failure.raw);
      const message = envelope(event);
      if (failure?.type === 'malformed_event') return sendAndRelease({ ...message, event: failure.raw } as Json);
      if (failure?.type !== 'gap' || failure.isReplayable) kept.push(message);
      if (kept.length > KEPT) kept.shift();
      if (failure?.type === 'gap') return;
      if (failure?.type === 'reorder') {
        held.push({ message, after: failure.after });
        return;
      }
      sendAndRelease(message);
      for (let again = failure?.type === 'duplicate' ? failure.times : 0; again > 0; again -= 1) line.sink(message);
    },
    flush() {
      for (const { message } of held.splice(0)) line.sink(message);
    },
    replay({ runId, fromSequence, toSequence }) {
      const wanted = kept.filter(
        ({ sourceSequence }) => sourceSequence >= fromSequence && sourceSequence <= toSequence,
      );
      if (runId !== session || wanted.length !== toSequence - fromSequence + 1) return false;
      for (const message of wanted) line.sink(message);
      return true;
    },
  };
}
