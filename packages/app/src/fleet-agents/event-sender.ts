import {
  type AdapterEvent,
  type AdapterSessionId,
  type AgentEvent,
  type AgentId,
  type EventId,
  type ReplayRequest,
  timestampOf,
} from '@signalbox/model';
import type { Machine } from '../machine.ts';

/** An event without its agent, which the sender adds. */
export type EventOf<Event extends AgentEvent = AgentEvent> = Event extends unknown ? Omit<Event, 'agentId'> : never;

/** How many events can be sent again. */
const REPLAYED = 500;

/**
 * The events of one adapter session: numbered from 0 without gaps, each with an identity of its own. Once it is closed, nothing is sent.
 */
export interface EventSender {
  readonly session: AdapterSessionId;
  send(event: EventOf): void;
  /** The number of the last event; -1 if there was none. */
  last(): number;
  /** Sends a range of events again; false if they are gone. */
  replay(request: ReplayRequest): boolean;
  close(): void;
}

export function createEventSender(
  agentId: AgentId,
  session: AdapterSessionId,
  sink: (event: AdapterEvent) => void,
  { clock, ids }: Pick<Machine, 'clock' | 'ids'>,
): EventSender {
  const sent: AdapterEvent[] = [];
  let next = 0;
  let isClosed = false;
  return {
    session,
    send(event) {
      if (isClosed) return;
      const whole: AdapterEvent = {
        sourceEventId: ids.mint<EventId>(),
        sourceSequence: next,
        sourceOccurredAt: timestampOf(clock),
        runId: session,
        event: { ...event, agentId } as AgentEvent,
      };
      next += 1;
      sent.push(whole);
      if (sent.length > REPLAYED) sent.shift();
      sink(whole);
    },
    last: () => next - 1,
    replay({ runId, fromSequence, toSequence }) {
      const first = sent[0]?.sourceSequence ?? next;
      if (isClosed || runId !== session || fromSequence < first || toSequence >= next) return false;
      for (const event of sent)
        if (event.sourceSequence >= fromSequence && event.sourceSequence <= toSequence) sink(event);
      return true;
    },
    close() {
      isClosed = true;
    },
  };
}
