/** Who is connected and watches, and what could not be sent, for whoever counts it. */
export interface LiveMeter {
  readonly connections: number;
  readonly subscriptions: { readonly run: number; readonly all: number };
  /** The returned function is called once, when it is over. */
  connected(): () => void;
  subscribed(of: 'run' | 'all'): () => void;
  dropped(count: number): void;
  tooSlow(): void;
  /** Ends when the returned function is called. */
  listen(listener: LiveListener): () => void;
}

interface LiveListener {
  dropped(count: number): void;
  tooSlow(): void;
}

export function createLiveMeter(): LiveMeter {
  const listeners = new Set<LiveListener>();
  const subscriptions = { run: 0, all: 0 };
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
