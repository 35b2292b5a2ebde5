import { type ErrorEnvelope, failure } from '@signalbox/model';
import type { LayerEntry } from '../layers/layer.ts';
import type { RunningCommand } from './running-command.ts';
import type { SandboxRules } from './sandbox-rules.ts';

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
  /** What its project allows it besides. */
  readonly rules?: SandboxRules;
  /** The layer of the root that it runs on, instead of the root itself. */
  readonly layer?: LayerEntry;
}

/**
 * Runs programs so that their only effects are files under a root.
 *
 * 1. They read the root, the system, toolchains and package caches; nothing else is there (see `CommandView`). There are
 *    private places for temporary files and for the home directory.
 * 2. What is refused cannot be read, whatever link leads to it.
 * 3. There is no network, nor a way to a service of this machine.
 * 4. No variable of ours reaches the program, but for the harmless ones.
 * 5. A program that uses more than its limits is ended.
 */
export interface CommandSandbox {
  readonly name: 'bubblewrap' | 'seatbelt';
  /** A program that cannot be started ends as such: this does not throw. */
  start(command: ConfinedCommand): RunningCommand;
}

export type SandboxMissingError = ErrorEnvelope<'tool/sandbox-missing'>;

/** The variables that every command gets. Nothing else of our environment is passed on. */
export function harmlessEnv(home: string, temporary: string, path = process.env.PATH): Record<string, string> {
  return { PATH: path || DEFAULT_PATH, HOME: home, TMPDIR: temporary, LANG: 'C.UTF-8', TERM: 'dumb' };
}

/** Those of our variables that a project's rules name. */
export function passedOn(rules: SandboxRules | undefined): Record<string, string> {
  const names = rules?.env ?? [];
  return Object.fromEntries(
    names.flatMap(name => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

export function sandboxMissing(reason: string, suggestion: string): SandboxMissingError {
  return failure('tool/sandbox-missing', {
    message: `commands cannot be confined on this machine: ${reason}`,
    suggestion: `Nothing was run. ${suggestion}`,
  });
}
