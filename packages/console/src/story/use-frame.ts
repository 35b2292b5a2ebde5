import type { ErrorEnvelope, Json, RunId, TreeNode } from '@signalbox/model';
import { useEffect, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';

export type State = Readonly<Record<string, Json>>;
/** Without a value if it was not recorded. */
export type Volatile = Readonly<Record<string, { readonly value?: Json | undefined }>>;

/** A past frame. Undefined parts are loading. */
export interface FrameView {
  /** The shown frame: the previous one while another is loading. */
  readonly frame: number | undefined;
  readonly tree: readonly TreeNode[] | undefined;
  readonly state: State | undefined;
  /** The state of the previous frame. */
  readonly before: State | undefined;
  /** The volatile state that its render read, and that of the previous frame. */
  readonly volatile: Volatile | undefined;
  readonly volatileBefore: Volatile | undefined;
  readonly error: ErrorEnvelope | undefined;
}

const REST_MS = 100;

/** Reads a frame once the slider rests on it. Frames do not change: each is read once. */
export function useFrame(run: RunId, frame: number | undefined): FrameView {
  const client = useClient();
  const rested = useRested(frame);
  const isEnabled = frame !== undefined && rested !== undefined;
  const at = rested ?? 0;
  const tree = useRead(['tree', run, at], () => client.tree(run, at), { isEnabled, keeps: true });
  const state = useRead(['state', run, at], () => client.state(run, at), { isEnabled, keeps: true });
  const before = useRead(['state', run, at - 1], () => client.state(run, at - 1), {
    isEnabled: isEnabled && at > 0,
    keeps: true,
  });
  return {
    frame: tree.data?.frame,
    tree: isEnabled ? tree.data?.tree : undefined,
    state: isEnabled ? state.data?.state : undefined,
    before: isEnabled ? (at > 0 ? before.data?.state : {}) : undefined,
    volatile: isEnabled ? state.data?.volatile : undefined,
    volatileBefore: isEnabled && at > 0 ? before.data?.volatile : undefined,
    error: tree.error ?? state.error ?? before.error ?? undefined,
  };
}

function useRested(frame: number | undefined): number | undefined {
  const [rested, setRested] = useState(frame);
  useEffect(() => {
    const timer = setTimeout(() => setRested(frame), REST_MS);
    return () => clearTimeout(timer);
  }, [frame]);
  return rested;
}
