import { Command } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import type { CommandContext, CommandEntry } from './command.ts';

/**
 * The program's command line, with the definition of the called command. It never exits the process: commander's exits are
 * thrown.
 */
export async function buildProgram(
  entries: readonly CommandEntry[],
  called: CommandEntry | undefined,
  context: CommandContext,
): Promise<Command> {
  const { terminal } = context;
  const program = new Command('signalbox')
    .usage('<command> [options]')
    .description(
      'Signalbox is a local-first control plane for AI agents: you write a plan, agents from any vendor do the work, every step is ' +
        'durable and can be undone, and every fact is in a log that anyone can verify.',
    )
    .version(manifest.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help for the program or a command')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: text => terminal.print(text.replace(/\n$/, '')),
      // Errors are reported once, as envelopes.
      writeErr() {},
    })
    .addHelpText('after', AFTER_HELP);
  // Help and error messages need all of them.
  for (const entry of called === undefined ? entries : [called]) {
    const { syntax, summary, group } = entry;
    const command = program.command(syntax, { hidden: group === undefined }).summary(summary);
    if (group !== undefined) command.helpGroup(group);
    if (entry === called) (await entry.load())(command, context);
  }
  return program;
}

export function nameOf({ syntax }: CommandEntry): string {
  return syntax.split(' ', 1)[0] ?? '';
}

const AFTER_HELP = `
Examples:
  $ signalbox init                          write a first plan
  $ signalbox run plan.tsx                  run it, and follow it to its end
  $ signalbox ls                            list runs
  $ signalbox show 019b8d62                 show a run; an id prefix is enough
  $ signalbox demo                          see it work, without any setup
  $ signalbox verify tour/runs/*            check the demo's journal
  $ signalbox verify DIR --json | jq .head  note the head to compare later
  $ signalbox verify DIR --expect-head sha256:…
  $ signalbox doctor                        check this machine

Exit codes:
  0 done   1 failed   2 usage   3 waiting for a person   4 refused   128+n ended by signal n

Environment:
  SIGNALBOX_DATA_DIR  the data directory; --data-dir overrides it
  XDG_DATA_HOME       on Linux, the parent of the default data directory
  NO_COLOR            any value disables colours
  TERM=dumb           disables the live tree

Every command has --help with examples, and --json for programs. Errors say how to continue.`;
