import { type Json, ok, type Result } from '@signalbox/model';
import type { DispatchError, SliceChange } from './slice-store.ts';

/** Where a session keeps its slices beyond its own memory. */
export interface SliceBackend {
  /** What is kept of a slice; empty where nothing is. Already checked by the slice's schema. */
  load(slice: string): readonly Json[];
  /** Keeps all of the changes or none of them. */
  write(changes: readonly SliceChange[]): Result<void, DispatchError>;
}

/** Keeps nothing: the session's own memory is all there is. */
export const memoryBackend: SliceBackend = { load: () => [], write: () => ok(undefined) };
