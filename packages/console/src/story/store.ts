/** A changing value with subscribers, for React's `useSyncExternalStore`. */
export interface Store<Value> {
  read(): Value;
  subscribe(listener: () => void): () => void;
  change(next: (value: Value) => Value): void;
}

/** `later` schedules notifications; changes until then are notified together. */
export function createStore<Value>(first: Value, later: (tell: () => void) => void): Store<Value> {
  const listeners = new Set<() => void>();
  let value = first;
  let isTelling = false;
  const tell = () => {
    isTelling = false;
    for (const listener of [...listeners]) listener();
  };
  return {
    read: () => value,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    change(next) {
      const changed = next(value);
      if (changed === value) return;
      value = changed;
      if (isTelling) return;
      isTelling = true;
      later(tell);
    },
  };
}

/** With the browser's next animation frame. */
export function nextFrame(tell: () => void): void {
  requestAnimationFrame(tell);
}
