import type { Launch, Program } from '@signalbox/app';
import type { Command } from 'commander';
import type { EndSignals } from './end-signals.ts';
import type { ExitCode } from './exit-code.ts';
import type { Terminal } from './terminal.ts';

/** What a command needs to run. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** For commands that run until they are asked to end. */
  readonly signals: Pick<EndSignals, 'ending'>;
  /** How to start this program again in a role. */
  readonly self: Program;
  readonly launch?: Launch;
  /** Sets the exit code; the last call counts. */
  end(code: ExitCode): void;
}

/** A command as the program's help shows it. The rest is loaded on call, so that no other command pays for it. */
export interface CommandEntry {
  /** Its name and its arguments: `show <run>`. */
  readonly syntax: string;
  readonly summary: string;
  /** Its heading in the help; commands without one are hidden. */
  readonly group?: string;
  load(): Promise<DefineCommand>;
}

/** Defines a command's help, arguments and action. */
export type DefineCommand = (command: Command, context: CommandContext) => void;

/** `child` plays the roles of `@signalbox/app`; it is not meant for people. */
export const CHILD_COMMAND = 'child';
