import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** The time, once a second while `isRunning`. Everybody who looks sees the same second. */
export function useNow(isRunning = true): number {
  return useSyncExternalStore(isRunning ? everySecond : never, () => now);
}

function everySecond(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const tell of [...listeners]) tell();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function never(): () => void {
  return () => undefined;
}
