import type { Clock, Rng } from '@signalbox/model';
import type { Timers } from '@signalbox/plan';
import {
  admitCall,
  type CallReport,
  closedUntil,
  closeWindow,
  keyOfModel,
  type ModelName,
  type ModelStanding,
  openRateLimits,
  recordCall,
  releaseCall,
  type Standings,
} from '@signalbox/runs';
import type { ActivityFact } from './host-activity.ts';

/** Who may call which model now, over all runs of this process, and how the models answered. */
export interface RateLimitDesk {
  /** Waits for the model's window and a free place. Undefined where the signal came first, or nobody may wait any more. */
  enter(model: ModelName, signal: AbortSignal): Promise<LeaveCall | undefined>;
  /** Models that were called, or that somebody waits for. */
  models(): readonly CalledModel[];
  /** For how many milliseconds nobody calls a model. */
  closedFor(model: ModelName): number;
  /** Ends every wait, and those that would begin. Whoever need not wait may still call. */
  endWaits(): void;
}

/** Gives the place back, with how the call went; a refusal by the provider closes the model's window for everybody. */
type LeaveCall = (report?: CallReport) => void;

export interface CalledModel {
  readonly standing: ModelStanding;
  /** Until when nobody calls it. */
  readonly closedUntil: number | undefined;
  /** Calls that wait for it now. */
  readonly waiting: number;
}

export interface RateLimitDeskOptions {
  readonly maxConcurrent?: number;
  /** Told of every wait that is over and of every call that ended. */
  readonly tell?: (fact: ActivityFact) => void;
}

export function createRateLimitDesk(
  { clock, timers, rng }: { readonly clock: Clock; readonly timers: Timers; readonly rng: Rng },
  { maxConcurrent, tell = () => undefined }: RateLimitDeskOptions = {},
): RateLimitDesk {
  let limits = openRateLimits(maxConcurrent);
  let standings: Standings = new Map();
  let isEnding = false;
  const waiting = new Set<() => void>();
  const callers = new Map<string, { readonly name: ModelName; count: number }>();
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

  /** Counts whoever waits; the returned function is called when that is over. */
  const queue = (name: ModelName): (() => void) => {
    const key = keyOfModel(name);
    const since = clock.now();
    const entry = callers.get(key) ?? { name, count: 0 };
    entry.count += 1;
    callers.set(key, entry);
    return () => {
      entry.count -= 1;
      if (entry.count === 0) callers.delete(key);
      tell({ kind: 'call-waited', ...name, ms: clock.now() - since });
    };
  };

  return {
    async enter(model, signal) {
      let leaveQueue: (() => void) | undefined;
      try {
        for (;;) {
          if (signal.aborted) return undefined;
          const admission = admitCall(limits, model, clock.now());
          if (admission.kind === 'go') {
            limits = admission.limits;
            break;
          }
          if (isEnding) return undefined;
          leaveQueue ??= queue(model);
          await pause(admission.kind === 'wait' ? admission.until - clock.now() : undefined, signal);
        }
      } finally {
        leaveQueue?.();
      }
      const begunAt = clock.now();
      let isInside = true;
      return report => {
        if (!isInside) return;
        isInside = false;
        const now = clock.now();
        limits = releaseCall(limits);
        standings = recordCall(standings, model, report, now);
        if (report?.kind === 'refused') {
          limits = closeWindow(limits, model, { retryAfterMs: report.retryAfterMs, now }, rng);
        }
        tell({ kind: 'call-ended', ...model, ms: Math.max(0, now - begunAt), outcome: report?.kind ?? 'canceled' });
        wakeAll();
      };
    },
    closedFor: model => (closedUntil(limits, model, clock.now()) ?? clock.now()) - clock.now(),
    endWaits() {
      isEnding = true;
      wakeAll();
    },
    models() {
      const now = clock.now();
      const waitedFor = [...callers.values()].filter(({ name }) => !standings.has(keyOfModel(name)));
      const fresh = waitedFor.map(({ name }) => ({ name, calls: 0, failuresInRow: 0, windows: [] }));
      return [...standings.values(), ...fresh].map(standing => ({
        standing,
        closedUntil: closedUntil(limits, standing.name, now),
        waiting: callers.get(keyOfModel(standing.name))?.count ?? 0,
      }));
    },
  };
}
