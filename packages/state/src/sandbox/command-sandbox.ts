import { type ErrorEnvelope, failure } from '@signalbox/model';
import type { LayerEntry } from '../layers/layer.ts';
import type { RunningCommand } from './running-command.ts';

/** A program, and the one directory that it may change. Paths are absolute, links resolved. */
export interface ConfinedCommand {
  /** The program and its arguments; no shell reads them. */
  readonly command: readonly string[];
  /** Where it starts, and all that it can write. */
  readonly root: string;
  /** What it must not see, inside or around the root. */
  readonly refused: readonly string[];
  /** Variables on top of the harmless ones. */
  readonly env: Readonly<Record<string, string>>;
  /** The layer of the root that it runs on, instead of the root itself. */
  readonly layer?: LayerEntry;
}

/**
 * Runs programs so that their only effects are files under a root.
 *
 * 1. Everything else is read-only; there is a private place for temporary files and for the home directory.
 * 2. What is refused cannot be read, whatever link leads to it.
 * 3. There is no network, nor a way to a service of this machine.
 * 4. No variable of ours reaches the program, but for the harmless ones.
 */
export interface CommandSandbox {
  readonly name: 'bubblewrap' | 'seatbelt';
  /** A program that cannot be started ends as such: this does not throw. */
  start(command: ConfinedCommand): RunningCommand;
}

export type SandboxMissingError = ErrorEnvelope<'tool/sandbox-missing'>;

/** The variables that every command gets. Nothing else of our environment is passed on. */
export function harmlessEnv(home: string, temporary: string): Record<string, string> {
  return { PATH: process.env.PATH ?? DEFAULT_PATH, HOME: home, TMPDIR: temporary, LANG: 'C.UTF-8', TERM: 'dumb' };
}

const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

export function sandboxMissing(reason: string, suggestion: string): SandboxMissingError {
  return failure('tool/sandbox-missing', {
    message: `commands cannot be confined on this machine: ${reason}`,
    suggestion: `Nothing was run. ${suggestion}`,
  });
}
