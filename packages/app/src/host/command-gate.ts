import { type ErrorEnvelope, err, failure, type Result } from '@signalbox/model';

/** Lets commands in until the process ends: one that is let in is carried out, and one that is not has done nothing. */
export interface CommandGate {
  through<T>(command: () => Promise<Result<T, ErrorEnvelope>>): Promise<Result<T, ErrorEnvelope>>;
  /** Resolves once no command is under way; undefined if none is. */
  underWay(): Promise<unknown> | undefined;
  /** Lets no more commands in. */
  shut(): void;
}

export function createCommandGate(): CommandGate {
  const inside = new Set<Promise<unknown>>();
  let isShut = false;
  return {
    async through(command) {
      if (isShut) return err(ending());
      const done = command();
      inside.add(done);
      try {
        return await done;
      } finally {
        inside.delete(done);
      }
    },
    underWay: () => (inside.size === 0 ? undefined : Promise.allSettled(inside)),
    shut() {
      isShut = true;
    },
  };
}

function ending(): ErrorEnvelope<'store/ending'> {
  return failure('store/ending', {
    message: 'The process that owns the data directory is ending, and takes no more commands. It did nothing.',
    suggestion: 'Try again: the next process that needs the data directory owns it then.',
    retry: { kind: 'retryable_after_ms', afterMs: 500 },
  });
}
