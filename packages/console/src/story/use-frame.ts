import type { Client } from '@signalbox/client';
import type { ErrorEnvelope, Json, RunId, TreeNode } from '@signalbox/model';
import { useEffect, useRef, useState } from 'react';

/** State and tree as they were in a frame, or as they are now. */
export interface FrameView {
  readonly state: Readonly<Record<string, Json>> | undefined;
  /** Only of a frame that is looked back at. */
  readonly tree: readonly TreeNode[] | undefined;
  readonly error: ErrorEnvelope | undefined;
}

const nothing: FrameView = { state: undefined, tree: undefined, error: undefined };

/** `version` changes when there may be something new to read. One read at a time: what changes often is read as often as it answers. */
export function useFrame(client: Client, run: RunId, frame: number | undefined, version: number): FrameView {
  const [view, setView] = useState<FrameView>(nothing);
  const touch = useRef<() => void>(() => undefined);

  useEffect(() => {
    let isOver = false;
    let isReading = false;
    let isStale = false;
    const read = async (): Promise<void> => {
      isStale = true;
      if (isReading) return;
      isReading = true;
      while (isStale && !isOver) {
        isStale = false;
        const [state, tree] = await Promise.all([
          client.state(run, frame),
          frame === undefined ? undefined : client.tree(run, frame),
        ]);
        if (isOver) return;
        setView(before => ({
          state: state.ok ? state.value.state : before.state,
          tree: tree?.ok ? tree.value.tree : undefined,
          error: !state.ok ? state.error : tree !== undefined && !tree.ok ? tree.error : undefined,
        }));
      }
      isReading = false;
    };
    touch.current = () => void read();
    void read();
    return () => {
      isOver = true;
    };
  }, [client, run, frame]);

  useEffect(() => {
    touch.current();
  }, [version]);
  return view;
}
