import type { RunId } from '@signalbox/model';
import { type Allowance, type Budgeted, type CallEstimate, checkRoom, type StopVerdict } from '@signalbox/runs';

/**
 * What calls under way may still spend, by run.
 *
 * 1. A call is reserved in its run and in every run above it, before it is sent, and released once its spending is committed: at any moment
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
  /** What is reserved in a run. */
  held(run: RunId): CallEstimate;
}

export type Reserved =
  | (Extract<StopVerdict, { readonly kind: 'go' }> & { release(): void })
  | Extract<StopVerdict, { readonly kind: 'stop' }>;

const NOTHING: CallEstimate = { tokens: 0, costMicroUsd: 0 };

export function createReservations(): Reservations {
  const reserved = new Map<RunId, Set<CallEstimate>>();
  const waiting = new Set<() => void>();
  /** Counts releases: spending that was read before one may lack what it settled. */
  let releases = 0;

  const held = (run: RunId): CallEstimate => {
    let sum = NOTHING;
    for (const { tokens, costMicroUsd = 0 } of reserved.get(run) ?? [])
      sum = { tokens: sum.tokens + tokens, costMicroUsd: (sum.costMicroUsd ?? 0) + costMicroUsd };
    return sum;
  };

  function hold(runs: readonly RunId[], wanted: CallEstimate): () => void {
    const own = { ...wanted };
    for (const run of runs) {
      const calls = reserved.get(run) ?? new Set();
      reserved.set(run, calls.add(own));
    }
    return () => {
      for (const run of runs) {
        const calls = reserved.get(run);
        if (calls?.delete(own) === true && calls.size === 0) reserved.delete(run);
      }
      releases++;
      for (const wake of [...waiting]) wake();
    };
  }

  /** What an adaptable call will take: not more than is left. */
  const within = (wanted: CallEstimate, left: Allowance = {}): CallEstimate => {
    if (wanted.isAdaptable !== true) return wanted;
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
    async reserve(pathOf, wanted, signal) {
      for (;;) {
        if (signal.aborted) return undefined;
        const before = releases;
        const path = await pathOf();
        if (before !== releases) continue;
        const verdict = checkRoom(
          path.map(one => ({ ...one, reserved: held(one.run) })),
          wanted,
        );
        if (verdict.kind === 'stop') return verdict;
        if (verdict.kind === 'wait') {
          await released(signal);
          continue;
        }
        const release = hold(
          path.map(({ run }) => run),
          within(wanted, verdict.left),
        );
        return { ...verdict, release };
      }
    },
  };
}
