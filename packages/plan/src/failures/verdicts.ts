import { type Duration, durationMs } from './duration.ts';

interface WithCause {
  readonly cause?: unknown;
}

/** Thrown by work: another attempt would fail too. */
export class Terminal extends Error {
  override readonly name = 'Terminal';
}

/** Thrown by work: another attempt may succeed. */
export class Retryable extends Error {
  override readonly name = 'Retryable';
  /** The least wait before it, in milliseconds. */
  readonly afterMs: number | undefined;

  constructor(message: string, { after, cause }: { readonly after?: Duration } & WithCause = {}) {
    super(message, { cause });
    this.afterMs = after === undefined ? undefined : durationMs(after);
  }
}
