import { constants } from 'node:os';

/**
 * The signals that ask this program to end, handled in one place.
 *
 * E1  The first one aborts `ending`: commands pause their work and return. Then the program exits with 128+n.
 * E2  A second one ends the process immediately. The next start recovers interrupted work, as after a crash.
 * E3  A command that never uses `ending` is ended by the platform, with the same exit code for the parent process.
 */
export interface EndSignals {
  /** Handles the signals from now on. Aborted by the first one, whose name is the reason. */
  ending(): AbortSignal;
  /** The exit code, once a signal has arrived. */
  readonly exitCode: number | undefined;
  /** Stops handling the signals. */
  release(): void;
}

type EndSignal = (typeof END_SIGNALS)[number];
const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The part of `process` that emits signals and exits. */
export type SignalSource = Pick<NodeJS.Process, 'on' | 'off' | 'exit'>;

export function endSignals(source: SignalSource = process): EndSignals {
  const control = new AbortController();
  let isTaken = false;
  let caught: EndSignal | undefined;
  const take = (signal: EndSignal) => {
    if (caught !== undefined) source.exit(exitCodeOfSignal(signal));
    caught = signal;
    control.abort(signal);
  };
  return {
    ending() {
      if (!isTaken) for (const name of END_SIGNALS) source.on(name, take);
      isTaken = true;
      return control.signal;
    },
    get exitCode() {
      return caught === undefined ? undefined : exitCodeOfSignal(caught);
    },
    release() {
      for (const name of END_SIGNALS) source.off(name, take);
    },
  };
}

/** Resolves when the program is asked to end. */
export function asked(ending: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (ending.aborted) return resolve();
    ending.addEventListener('abort', () => resolve(), { once: true });
  });
}

function exitCodeOfSignal(signal: EndSignal): number {
  return 128 + constants.signals[signal];
}
