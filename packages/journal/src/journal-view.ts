import type { Digest, SessionId } from '@signalbox/model';
import type { DedupeKey, JournalEvent } from './event.ts';
import type { Truth } from './replay.ts';

/** A journal at one moment. Later appends do not change it. */
export interface JournalView<E extends JournalEvent> {
  readonly sessionId: SessionId;
  readonly length: number;
  readonly head: Digest;
  /** The head after the first `length` events. */
  headAt(length: number): Digest;
  /**
   * The events from an index on. A caller that remembers the length it has seen pays only for new events. All events are the same list
   * object for every view of the same moment, so that results can be cached per list.
   */
  events(from?: number): readonly E[];
  /** The event recorded under a key. */
  find(key: DedupeKey): E | undefined;
}

export function viewOf<E extends JournalEvent>(truth: Truth<E>): JournalView<E> {
  const { sessionId } = truth;
  const { length } = truth.events;
  return {
    sessionId,
    length,
    get head() {
      return truth.chain.headAt(length);
    },
    headAt: first => truth.chain.headAt(Math.min(first, length)),
    events(from = 0) {
      if (from > 0) return truth.events.slice(from, length);
      if (truth.whole.length !== length) truth.whole = truth.events.slice(0, length);
      return truth.whole;
    },
    find(key) {
      const index = truth.indexByKey.get(key);
      return index === undefined || index >= length ? undefined : truth.events[index];
    },
  };
}
