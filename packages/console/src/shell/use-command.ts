import type { Answer } from '@signalbox/client';
import type { ErrorEnvelope } from '@signalbox/model';
import { useState } from 'react';

export interface CommandState {
  readonly isBusy: boolean;
  readonly error: ErrorEnvelope | undefined;
  /** Sends one command at a time; returns whether it succeeded. */
  send(command: () => Answer<unknown>): Promise<boolean>;
}

/** A command in progress, and the server's error if it failed. */
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
