import type { Answer } from '@signalbox/client';
import type { ErrorEnvelope } from '@signalbox/model';
import { useState } from 'react';

export interface CommandState {
  readonly isBusy: boolean;
  readonly error: ErrorEnvelope | undefined;
  /** Tells the server, one thing at a time; whether it did it. */
  send(command: () => Answer<unknown>): Promise<boolean>;
}

/** A command on its way, and what the server said if it did not do it. */
export function useCommand(): CommandState {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<ErrorEnvelope>();
  return {
    isBusy,
    error,
    async send(command) {
      setIsBusy(true);
      setError(undefined);
      const done = await command();
      setIsBusy(false);
      if (!done.ok) setError(done.error);
      return done.ok;
    },
  };
}
