import type { ChildProcess } from 'node:child_process';
import type { ErrorEnvelope, Result } from '@signalbox/model';
import { failure } from '@signalbox/model';
import type { ChangeSet, LayerChange } from './layer-change.ts';

/**
 * A copy-on-write view of a directory, at the directory's own path. Writes to it form a change set, which is applied or
 * dropped; the directory itself is not touched until then.
 *
 * 1. It lives for one call or one turn, and its changes are read only after every process on it has ended.
 * 2. Dropping it is the whole rollback: nothing has to be restored.
 * 3. It is lost with the process that opened it, unless its changes were held.
 */
export interface Layer {
  readonly id: string;
  readonly root: string;
  /** The directory of its parts: `upper` with the writes, `work` for the kernel. */
  readonly directory: string;
  /** The root's identity when it was opened. */
  readonly place: { readonly dev: string; readonly ino: string };
  /** When it was opened, on the clock of the root's filesystem, in nanoseconds. */
  readonly since: bigint;
  readonly entry: LayerEntry;
  /** The same as the entry's. */
  view(): string | undefined;
  /** For a copy of the root: reads its changes, and removes what was not changed. */
  readonly copied?: {
    read(): ChangeSet;
    keepOnly(changes: readonly LayerChange[]): void;
  };
  /** Ends the view. The writes stay. */
  leave(): void;
  /** Drops the layer with all writes. */
  drop(): void;
}

/** How a program is started on a layer. */
export interface LayerEntry {
  /** The directory of the layer, which stores the writes. */
  readonly directory: string;
  /** If it is a copy of the root at another path: a program is started there, not on a layer. */
  readonly copy?: {
    readonly at: string;
    /** Why there is no layer. */
    readonly why: string;
    /** Whether the copy shares its contents with the root. */
    readonly isCloned: boolean;
    /** Paths that differ from what was copied, so far. */
    changed(): readonly string[];
  };
  /**
   * Runs a script of the system's shell in the layer, once, with the pipes of a command (`LAYER_STDIO`). The status says
   * `{"layer": PID}` when the layer is mounted; the script's program must wait until the layer was `entered`. Neither the process
   * nor its pipes keep ours alive.
   */
  start(script: string): ChildProcess;
  /** Whether a started program is root of a user namespace and must switch to another user. */
  readonly isMapped: boolean;
  /** Called when the layer is mounted, and a process is in it. From then on it has a view. */
  entered(pid: number): void;
  /** The directory as seen on the layer, at a path of our own process; undefined before it is entered and after it is left. */
  view(): string | undefined;
  /** An entry for one more program beside the first, while that one runs; undefined where there can be none. */
  beside(): LayerEntry | undefined;
  /** Sets what to start on the root's next layer as soon as it is mounted ahead, if anything. */
  ahead(start: ((next: LayerEntry) => Standby) | undefined): void;
}

/** A process that waits on a layer mounted ahead. It must not read anything below the root. */
export interface Standby {
  isAlive(): boolean;
  /** Ends it, unless it was used. */
  end(): void;
}

export interface Layers {
  /** The directory that contains them. */
  readonly home: string;
  /** A new, empty layer of a directory (absolute, links resolved), or why it cannot have one. */
  open(root: string, call?: CallOfLayer): Promise<Result<Layer, NoLayerError>>;
  /** A new, empty layer of a directory as a held layer of it shows it. What is written on it stays apart from the held layer. */
  openOver(root: string, held: string): Promise<Result<Layer, NoLayerError>>;
  /** A copy of a directory that stands in for a layer, or why it cannot be copied either. */
  openCopy(root: string, why: string, call?: CallOfLayer): Promise<Result<Layer, NoLayerError>>;
  /** Mounts the next layer of a directory ahead. */
  prepare(root: string): void;
  /** Every later layer of this directory is refused, because a mount was. */
  refuse(root: string, reason: string): void;
  /** Drops a held layer. */
  remove(id: string): void;
  /**
   * Removes leftovers of dead processes, except layers that are held or still needed. Returns the calls that were interrupted
   * with them.
   */
  sweep(needed: ReadonlySet<string>): readonly SweptCall[];
}

/** Whose layer it is. */
export interface CallOfLayer {
  readonly id: string;
  readonly tool: string;
  readonly evaluation: string;
}

/** A call that was cut off with its layer, and whether nothing was written on it. */
export interface SweptCall extends CallOfLayer {
  readonly isUntouched: boolean;
}

export type NoLayerError = ErrorEnvelope<'state/no-layer'>;

export function noLayer(root: string, reason: string): NoLayerError {
  return failure('state/no-layer', {
    message: `${root} cannot have layers: ${reason}`,
    suggestion: 'Commands run in the directory itself and are undone from a snapshot. See `signalbox doctor`.',
  });
}

/** Thrown by a handler whose program could not enter its layer. Nothing was run. */
export class LayerRefused extends Error {
  override readonly name = 'LayerRefused';
}

/** Thrown by a handler whose program was started ahead with the wrong options. Nothing was run. */
export class OtherLayerNeeded extends Error {
  override readonly name = 'OtherLayerNeeded';
}
