import type { TickService } from '@signalbox/model';

/** Logical time that advances only on request. While it is stopped, it stands still. */
export function manualTicks(first = 0): TickService {
  let now = first;
  let isRunning = true;
  const handlers = new Set<(tick: number) => void>();
  return {
    currentTick: () => now,
    onTick(handler) {
      // A function of its own, so that one handler can subscribe twice.
      const own = (tick: number) => handler(tick);
      handlers.add(own);
      return () => {
        handlers.delete(own);
      };
    },
    start() {
      isRunning = true;
    },
    stop() {
      isRunning = false;
    },
    advance(ticks) {
      for (let left = ticks; left > 0 && isRunning; left -= 1) {
        now += 1;
        for (const handler of [...handlers]) if (handlers.has(handler)) handler(now);
      }
    },
  };
}
