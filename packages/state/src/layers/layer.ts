import type { ChildProcess } from 'node:child_process';
import type { ErrorEnvelope, Result } from '@signalbox/model';
import { failure } from '@signalbox/model';

/**
 * A copy-on-write view of a directory, at the directory's own path. What is written on it is a change set, to be applied or
 * dropped; the directory itself is not touched until then.
 *
 * 1. It lives for one call or one turn, and is read only once everything that ran on it is gone.
 * 2. Dropping it is the whole rollback: nothing has to be restored.
 * 3. It is lost with the process that opened it, unless its changes were held.
 */
export interface Layer {
  readonly id: string;
  readonly root: string;
  /** Where its parts are: `upper` with what was written, `work` for the kernel. */
  readonly directory: string;
  /** Which directory the root was when it was opened. */
  readonly place: { readonly dev: string; readonly ino: string };
  /** When it was opened, on the clock of the root's filesystem, in nanoseconds. */
  readonly since: bigint;
  readonly entry: LayerEntry;
  /** The directory as it is seen on the layer; undefined before it was entered and after it was left. */
  view(): string | undefined;
  /** Ends the view. What was written stays. */
  leave(): void;
  /** Lets go of it and of everything that was written on it. */
  drop(): void;
}

/** How a program is started on a layer. */
export interface LayerEntry {
  /** The directory of the layer: what is written on it takes room there. */
  readonly directory: string;
  /**
   * Runs a script of the system's shell in the layer, once, with the pipes of a command (`LAYER_STDIO`). The status says
   * `{"layer": PID}` when the layer is mounted; until it was `entered`, what the script becomes must wait. Neither the process
   * nor its pipes keep ours alive.
   */
  start(script: string): ChildProcess;
  /** Whether what is started finds itself as root of a user namespace, and has to become somebody else. */
  readonly isMapped: boolean;
  /** Called when the layer is mounted, and a process is in it. From then on it has a view. */
  entered(pid: number): void;
  /** Says what to start on the next layer of the root as soon as it is mounted ahead, if anything. */
  ahead(start: ((next: LayerEntry) => Standby) | undefined): void;
}

/** A process that waits on a layer that was made ahead. It must not look at anything below the root. */
export interface Standby {
  isAlive(): boolean;
  /** Ends it, unless it was used. */
  end(): void;
}

export interface Layers {
  /** The directory that holds them. */
  readonly home: string;
  /** A new, empty layer of a directory (absolute, links resolved); an error says why it cannot have one. */
  open(root: string, call?: CallOfLayer): Promise<Result<Layer, NoLayerError>>;
  /** Mounts the next layer of a directory ahead. */
  prepare(root: string): void;
  /** Every later layer of this directory is refused, because a mount was. */
  refuse(root: string, reason: string): void;
  /** Lets go of a layer that was held. */
  remove(id: string): void;
  /**
   * Removes what processes that died left behind, but for layers that are held and those that are still needed. Answers the
   * calls that were cut off with them.
   */
  sweep(needed: ReadonlySet<string>): readonly CallOfLayer[];
}

/** Whose layer it is. */
export interface CallOfLayer {
  readonly id: string;
  readonly tool: string;
  readonly evaluation: string;
}

export type NoLayerError = ErrorEnvelope<'state/no-layer'>;

export function noLayer(root: string, reason: string): NoLayerError {
  return failure('state/no-layer', {
    message: `${root} cannot have layers: ${reason}`,
    suggestion: 'Commands run in the directory itself, and are undone from a snapshot. `signalbox doctor` says more.',
  });
}

/** Thrown by a handler whose program could not enter its layer. Nothing was run. */
export class LayerRefused extends Error {
  override readonly name = 'LayerRefused';
}

/** Thrown by a handler whose program was started ahead in another way than it has to be. Nothing was run. */
export class OtherLayerNeeded extends Error {
  override readonly name = 'OtherLayerNeeded';
}
