import type { FakeClock } from './fake-clock.ts';

/** Timers that go off when the test moves the clock. */
export interface FakeTimers {
  /** Calls back at that time; not at all once the returned function was called. */
  after(ms: number, run: () => void): () => void;
  advance(ms: number): void;
  /** Milliseconds until the next one goes off. */
  readonly next: number | undefined;
}

export function fakeTimers(clock: FakeClock): FakeTimers {
  const set = new Map<number, { readonly at: number; readonly run: () => void }>();
  let ids = 0;
  const first = () => [...set].sort(([a, one], [b, two]) => one.at - two.at || a - b)[0];
  return {
    after(ms, run) {
      const id = ids++;
      set.set(id, { at: clock.now() + ms, run });
      return () => set.delete(id);
    },
    advance(ms) {
      const until = clock.now() + ms;
      for (let next = first(); next !== undefined && next[1].at <= until; next = first()) {
        const [id, { at, run }] = next;
        set.delete(id);
        clock.advance(Math.max(0, at - clock.now()));
        run();
      }
      clock.advance(until - clock.now());
    },
    get next() {
      const next = first();
      return next === undefined ? undefined : next[1].at - clock.now();
    },
  };
}
