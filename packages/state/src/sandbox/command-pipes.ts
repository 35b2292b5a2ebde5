import type { Stdio } from '../programs/start-program.ts';

/**
 * The descriptors of what starts a command. A shell may stand in between, and some shells name no number above 9.
 * None of them is open in the command itself.
 */

/** What `bwrap` reports, and on a layer who is on it. */
export const STATUS_FD = 3;
/** The options of `bwrap`. */
export const OPTIONS_FD = 4;
/** What a shell that makes a layer ahead waits for. */
export const GO_FD = 5;
/** Directories of a layer, while it is mounted. */
export const LAYER_FDS = [6, 7, 8] as const;
/** The filter of system calls. */
export const FILTER_FD = 9;

const ignored = LAYER_FDS.map((): Stdio => 'ignore');

export const COMMAND_STDIO: readonly Stdio[] = ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'ignore', ...ignored, 'pipe'];
/** What is started ahead waits on its input for its program. */
export const LAYER_STDIO: readonly Stdio[] = COMMAND_STDIO.with(GO_FD, 'pipe').with(0, 'pipe');
