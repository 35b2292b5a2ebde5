import type { Clock, Rng } from '@signalbox/model';
import type { Timers } from '@signalbox/plan';
import { admitCall, closeWindow, type ModelName, openRateLimits, releaseCall } from '@signalbox/runs';

/** Who may call which model now, over all runs of this process. */
export interface RateLimitDesk {
  /** Waits for the model's window and a free place. Undefined where the signal came first. */
  enter(model: ModelName, signal: AbortSignal): Promise<LeaveCall | undefined>;
}

/** Gives the place back; a refusal by the provider closes the model's window for everybody. */
export type LeaveCall = (refusal?: { readonly retryAfterMs: number }) => void;

export function createRateLimitDesk(
  { clock, timers, rng }: { readonly clock: Clock; readonly timers: Timers; readonly rng: Rng },
  maxConcurrent?: number,
): RateLimitDesk {
  let limits = openRateLimits(maxConcurrent);
  const waiting = new Set<() => void>();
  const wakeAll = () => {
    for (const wake of [...waiting]) wake();
  };

  /** Until a place may be free: something was given back, or the window opens. */
  const pause = (ms: number | undefined, signal: AbortSignal) =>
    new Promise<void>(resolve => {
      const cancelTimer = ms === undefined ? undefined : timers.after(ms, () => wake());
      const wake = () => {
        waiting.delete(wake);
        cancelTimer?.();
        signal.removeEventListener('abort', wake);
        resolve();
      };
      waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });

  return {
    async enter(model, signal) {
      for (;;) {
        if (signal.aborted) return undefined;
        const admission = admitCall(limits, model, clock.now());
        if (admission.kind === 'go') {
          limits = admission.limits;
          break;
        }
        await pause(admission.kind === 'wait' ? admission.until - clock.now() : undefined, signal);
      }
      let isInside = true;
      return refusal => {
        if (!isInside) return;
        isInside = false;
        limits = releaseCall(limits);
        if (refusal !== undefined) {
          limits = closeWindow(limits, model, { retryAfterMs: refusal.retryAfterMs, now: clock.now() }, rng);
        }
        wakeAll();
      };
    },
  };
}
