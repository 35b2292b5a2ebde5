/** A value that changes, and who wants to know. What React's `useSyncExternalStore` reads. */
export interface Store<Value> {
  read(): Value;
  subscribe(listener: () => void): () => void;
  change(next: (value: Value) => Value): void;
}

export function createStore<Value>(first: Value): Store<Value> {
  const listeners = new Set<() => void>();
  let value = first;
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
      for (const listener of [...listeners]) listener();
    },
  };
}
