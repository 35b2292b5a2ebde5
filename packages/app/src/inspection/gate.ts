import { type ErrorEnvelope, err, failure, type Result } from '@signalbox/model';

/** Limits how much heavy work runs at once; a few callers wait, and the rest are refused. */
export interface Gate {
  enter<T>(work: () => Promise<Result<T, ErrorEnvelope>>): Promise<Result<T, ErrorEnvelope>>;
}

export function createGate({ atOnce, waiting }: { readonly atOnce: number; readonly waiting: number }): Gate {
  let going = 0;
  const queue: (() => void)[] = [];
  return {
    async enter(work) {
      if (going < atOnce) going += 1;
      else if (queue.length >= waiting) return err(tooMany(queue.length + going));
      // A leaving caller passes its place to the next.
      else await new Promise<void>(resolve => queue.push(resolve));
      try {
        return await work();
      } finally {
        const next = queue.shift();
        if (next === undefined) going -= 1;
        else next();
      }
    },
  };
}

const RETRY_MS = 2_000;

function tooMany(others: number): ErrorEnvelope<'request/too-many'> {
  return failure('request/too-many', {
    message: `Nothing was done: ${others} of the same kind are already running or waiting.`,
    suggestion: 'Try again when one of them has finished.',
    retry: { kind: 'retryable_after_ms', afterMs: RETRY_MS },
  });
}
