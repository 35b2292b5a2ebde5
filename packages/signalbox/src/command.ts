import type { Launch, Program } from '@signalbox/app';
import type { Command } from 'commander';
import type { EndSignals } from './end-signals.ts';
import type { ExitCode } from './exit-code.ts';
import type { Terminal } from './terminal.ts';

/** What a command has to work with. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** For commands that go on until they are asked to end. */
  readonly signals: Pick<EndSignals, 'ending'>;
  /** How this program is started again, to play a role. */
  readonly self: Program;
  readonly launch?: Launch;
  /** Says how it ended; the last word counts. */
  end(code: ExitCode): void;
}

/** A command as the help of the program shows it. The rest is loaded when it is called, so that no other command pays for it. */
export interface CommandEntry {
  /** Its name and its arguments: `show <run>`. */
  readonly syntax: string;
  readonly summary: string;
  /** The heading it stands under; one without is not shown. */
  readonly group?: string;
  load(): Promise<DefineCommand>;
}

/** Says what a command explains, takes and does. */
export type DefineCommand = (command: Command, context: CommandContext) => void;

/** `child` plays the roles of `@signalbox/app`; nobody calls it by hand. */
export const CHILD_COMMAND = 'child';
