import { type Json, ok, type Result } from '@signalbox/model';
import type { DispatchError, SliceChange } from './slice-store.ts';

/** Persistent storage for a session's slices. */
export interface SliceBackend {
  /** The stored items of a slice, already checked by its schema; empty if there are none. */
  load(slice: string): readonly Json[];
  /** Stores all of the changes or none. */
  write(changes: readonly SliceChange[]): Result<void, DispatchError>;
}

/** Stores nothing: the session exists only in memory. */
export const memoryBackend: SliceBackend = { load: () => [], write: () => ok(undefined) };
