import type { ErrorEnvelope, RunId } from '@signalbox/model';
import { useEffect, useRef, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import type { State, Volatile } from './use-frame.ts';

export interface StateNow {
  readonly state: State | undefined;
  readonly volatile: Volatile | undefined;
  readonly error: ErrorEnvelope | undefined;
}

/**
 * The current state. `version` changes when there may be something new to read. One read at a time: frequent changes are read as fast as
 * the server answers.
 */
export function useStateNow(run: RunId, version: number, isWanted: boolean): StateNow {
  const client = useClient();
  const [now, setNow] = useState<StateNow>({ state: undefined, volatile: undefined, error: undefined });
  const touch = useRef<() => void>(() => undefined);

  useEffect(() => {
    if (!isWanted) return;
    let isOver = false;
    let isReading = false;
    let isStale = false;
    const read = async (): Promise<void> => {
      isStale = true;
      if (isReading) return;
      isReading = true;
      while (isStale && !isOver) {
        isStale = false;
        const state = await client.state(run);
        if (isOver) return;
        setNow(before =>
          state.ok
            ? { state: state.value.state, volatile: state.value.volatile, error: undefined }
            : { ...before, error: state.error },
        );
      }
      isReading = false;
    };
    touch.current = () => void read();
    void read();
    return () => {
      isOver = true;
      touch.current = () => undefined;
    };
  }, [client, run, isWanted]);

  useEffect(() => {
    touch.current();
  }, [version]);
  return now;
}
