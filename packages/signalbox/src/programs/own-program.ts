import type { Launch, Program } from '@signalbox/app';
import type { CommandEntry } from '../command.ts';
import { runCommandLine } from '../command-line.ts';
import { hostTerminal } from '../terminal.ts';

/** Runs a command line; `self` is how to start the whole program again. */
export type OwnProgram = (argv: readonly string[], self: Program, launch: Launch) => Promise<number>;

/** A program with these commands. Commands that must start fast are built as separate files. */
export function programOf(...entries: readonly CommandEntry[]): OwnProgram {
  return (argv, self, launch) => runCommandLine(argv, hostTerminal(), entries, self, launch);
}
