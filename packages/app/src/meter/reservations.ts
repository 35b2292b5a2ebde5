import {
  type Allowance,
  type Budgeted,
  budgetKey,
  type CallEstimate,
  checkRoom,
  type StopVerdict,
} from '@signalbox/runs';

/**
 * What calls under way may still spend, by run and ceiling.
 *
 * 1. A call is reserved in its run, in every run above it and in every ceiling over them, before it is sent, and released once its spending is committed: at any moment
 *    spent and reserved together are within every limit.
 * 2. A call that fits only if others spend less than they may waits for them. One that would not fit alone is stopped.
 * 3. Nothing of it is durable: what a process reserved that died is counted when its calls are found.
 */
export interface Reservations {
  /** Waits until the call fits. Undefined if the signal came first. */
  reserve(
    path: () => Promise<readonly Budgeted[]>,
    wanted: CallEstimate,
    signal: AbortSignal,
  ): Promise<Reserved | undefined>;
  /** What is reserved in a run or a ceiling, by its `budgetKey`. */
  held(key: string): CallEstimate;
  /** Limits may have changed: calls that wait look again. */
  wake(): void;
}

export type Reserved =
  | (Extract<StopVerdict, { readonly kind: 'go' }> & { release(): void })
  | Extract<StopVerdict, { readonly kind: 'stop' }>;

const NOTHING: CallEstimate = { tokens: 0, costMicroUsd: 0 };

export function createReservations(): Reservations {
  const reserved = new Map<string, Set<CallEstimate>>();
  const waiting = new Set<() => void>();
  /** Counts releases: spending that was read before one may lack what it settled. */
  let releases = 0;

  const held = (key: string): CallEstimate => {
    let sum = NOTHING;
    for (const { tokens, costMicroUsd = 0 } of reserved.get(key) ?? [])
      sum = { tokens: sum.tokens + tokens, costMicroUsd: (sum.costMicroUsd ?? 0) + costMicroUsd };
    return sum;
  };

  function hold(keys: readonly string[], wanted: CallEstimate): () => void {
    const own = { ...wanted };
    for (const key of keys) {
      const calls = reserved.get(key) ?? new Set();
      reserved.set(key, calls.add(own));
    }
    return () => {
      for (const key of keys) {
        const calls = reserved.get(key);
        if (calls?.delete(own) === true && calls.size === 0) reserved.delete(key);
      }
      releases++;
      for (const wake of [...waiting]) wake();
    };
  }

  /** A call that can make do with less takes no more than is left. */
  const within = (wanted: CallEstimate, left: Allowance = {}): CallEstimate => {
    if (wanted.least === undefined) return wanted;
    const { tokens = wanted.tokens, costMicroUsd = wanted.costMicroUsd ?? 0 } = left;
    return {
      tokens: Math.min(wanted.tokens, tokens),
      costMicroUsd: Math.min(wanted.costMicroUsd ?? costMicroUsd, costMicroUsd),
    };
  };

  const released = (signal: AbortSignal) =>
    new Promise<void>(resolve => {
      const wake = () => {
        waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
      if (signal.aborted) wake();
    });

  return {
    held,
    wake() {
      for (const wake of [...waiting]) wake();
    },
    async reserve(pathOf, wanted, signal) {
      for (;;) {
        if (signal.aborted) return undefined;
        const before = releases;
        const path = await pathOf();
        if (before !== releases) continue;
        const verdict = checkRoom(
          path.map(one => ({ ...one, reserved: held(budgetKey(one)) })),
          wanted,
        );
        if (verdict.kind === 'stop') return verdict;
        if (verdict.kind === 'wait') {
          await released(signal);
          continue;
        }
        const release = hold(path.map(budgetKey), within(wanted, verdict.left));
        return { ...verdict, release };
      }
    },
  };
}
