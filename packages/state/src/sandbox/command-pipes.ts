import type { Stdio } from '../programs/start-program.ts';

/**
 * Descriptors used to start a command. A shell may be in between, and some shells support no number above 9. None of them is
 * open in the command itself.
 */

/** `bwrap`'s reports and, on a layer, the process on it. */
export const STATUS_FD = 3;
/** The options of `bwrap`. */
export const OPTIONS_FD = 4;
/** Input that a shell on a layer mounted ahead waits for. */
export const GO_FD = 5;
/** Directories of a layer, while it is mounted. */
const LAYER_FDS = [6, 7, 8] as const;
/** The system call filter. */
export const FILTER_FD = 9;

const ignored = LAYER_FDS.map((): Stdio => 'ignore');

export const COMMAND_STDIO: readonly Stdio[] = ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'ignore', ...ignored, 'pipe'];
/** A process started ahead waits on its input for its program. */
export const LAYER_STDIO: readonly Stdio[] = COMMAND_STDIO.with(GO_FD, 'pipe').with(0, 'pipe');
