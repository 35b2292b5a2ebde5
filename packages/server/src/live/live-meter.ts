/** Counts connections, subscriptions and dropped messages, for metrics. */
export interface LiveMeter {
  readonly connections: number;
  readonly subscriptions: { readonly run: number; readonly all: number; readonly fleet: number };
  /** Call the returned function once, when the connection ends. */
  connected(): () => void;
  subscribed(of: 'run' | 'all' | 'fleet'): () => void;
  dropped(count: number): void;
  tooSlow(): void;
  /** Call the returned function to stop listening. */
  listen(listener: LiveListener): () => void;
}

interface LiveListener {
  dropped(count: number): void;
  tooSlow(): void;
}

export function createLiveMeter(): LiveMeter {
  const listeners = new Set<LiveListener>();
  const subscriptions = { run: 0, all: 0, fleet: 0 };
  let connections = 0;
  return {
    get connections() {
      return connections;
    },
    subscriptions,
    connected() {
      connections += 1;
      return () => {
        connections -= 1;
      };
    },
    subscribed(of) {
      subscriptions[of] += 1;
      return () => {
        subscriptions[of] -= 1;
      };
    },
    dropped(count) {
      for (const listener of listeners) listener.dropped(count);
    },
    tooSlow() {
      for (const listener of listeners) listener.tooSlow();
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
