import { type ErrorEnvelope, failure } from '@signalbox/model';
import type { LayerEntry } from '../layers/layer.ts';
import type { CommandLimits } from './command-limits.ts';
import type { InteractiveProcess } from './interactive-process.ts';
import type { RunningCommand } from './running-command.ts';
import type { SandboxRules } from './sandbox-rules.ts';

/** A program, and the one directory that it may change. Paths are absolute, links resolved. */
export interface ConfinedCommand {
  /** The program and its arguments; no shell interprets them. */
  readonly command: readonly string[];
  /** Its working directory, and the only directory it can write. */
  readonly root: string;
  /** Paths it must not see, inside or around the root. */
  readonly refused: readonly string[];
  /** Variables in addition to the harmless ones. */
  readonly env: Readonly<Record<string, string>>;
  /** What its project additionally allows. */
  readonly rules?: SandboxRules;
  /** The layer of the root that it runs on, instead of the root itself. */
  readonly layer?: LayerEntry;
  /** Only for a program that stays. Its `env` is then all that it sees. */
  readonly own?: OwnPlaces;
}

/** Places shown at their own paths, even inside a refused directory. Credentials in them are not hidden. */
interface OwnPlaces {
  readonly readable: readonly string[];
  /** Writable; what is written there stays. */
  readonly home: string;
}

/** A program that stays and exchanges messages with us over its standard streams, such as an agent. Its network is open. */
export interface InteractiveCommand extends Pick<ConfinedCommand, 'command' | 'root' | 'refused' | 'layer'>, OwnPlaces {
  /** All variables that it sees. */
  readonly variables: Readonly<Record<string, string>>;
  /** Except for the time: it may stay as long as it is needed. */
  readonly limits: CommandLimits;
}

/**
 * Runs programs so that their only effects are files under a root.
 *
 * 1. They can read the root, the system, toolchains and package caches; nothing else exists for them (see `CommandView`).
 *    Temporary files and the home directory are private.
 * 2. Refused paths cannot be read, whatever link leads to them.
 * 3. There is no network, and no access to local services.
 * 4. None of our variables reaches the program, except the harmless ones.
 * 5. A program that exceeds its limits is killed.
 */
export interface CommandSandbox {
  readonly name: 'bubblewrap' | 'seatbelt';
  /** Does not throw: a program that cannot be started is reported as ended. */
  start(command: ConfinedCommand): RunningCommand;
  /** Starts a program that stays, by the same rules except for the third. Does not throw either. */
  open(command: InteractiveCommand): InteractiveProcess;
}

export type SandboxMissingError = ErrorEnvelope<'tool/sandbox-missing'>;

/** The variables that every command gets. Nothing else of our environment is passed on. */
export function harmlessEnv(home: string, temporary: string, path = process.env.PATH): Record<string, string> {
  return { PATH: path || DEFAULT_PATH, HOME: home, TMPDIR: temporary, LANG: 'C.UTF-8', TERM: 'dumb' };
}

/** Our variables that a project's rules list. */
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
