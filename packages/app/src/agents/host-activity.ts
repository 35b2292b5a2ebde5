import type { UsageRecord } from '@signalbox/runs';

/** What the process does for its runs, for whoever counts it. Nothing of it is durable. */
export type ActivityFact =
  /** Somebody waited for a model, and has it or gave up. */
  | { readonly kind: 'call-waited'; readonly provider: string; readonly model: string; readonly ms: number }
  /** A call of a model is over. */
  | {
      readonly kind: 'call-ended';
      readonly provider: string;
      readonly model: string;
      readonly ms: number;
      readonly outcome: 'answered' | 'refused' | 'failed' | 'canceled';
    }
  /** What a call spent that was made here, in which phase of its plan. */
  | { readonly kind: 'spent'; readonly usage: UsageRecord; readonly phase: string }
  /** A frame was made, from its snapshot to the end of its flush. */
  | { readonly kind: 'framed'; readonly ms: number };

export interface HostActivity {
  /** Ends when the returned function is called. A listener does not throw. */
  subscribe(listener: (fact: ActivityFact) => void): () => void;
}

export function createActivity(): HostActivity & { tell(fact: ActivityFact): void } {
  const listeners = new Set<(fact: ActivityFact) => void>();
  return {
    subscribe(listener) {
      const own = (fact: ActivityFact) => listener(fact);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    tell(fact) {
      for (const listener of [...listeners]) listener(fact);
    },
  };
}
