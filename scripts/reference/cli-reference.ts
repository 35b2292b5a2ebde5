import type { Command } from 'commander';
import type { CommandEntry } from '../../packages/signalbox/src/command.ts';
import { commands } from '../../packages/signalbox/src/commands.ts';
import { buildProgram, nameOf } from '../../packages/signalbox/src/program.ts';

/** A command or subcommand as the program defines it. */
export interface ProgramCommand {
  /** Its words, without the program's name: `workflow new`. */
  readonly name: string;
  /** Its long and short options, those of the command that it belongs to included. */
  readonly options: readonly string[];
  readonly takesArguments: boolean;
  readonly help: string;
}

/** `docs/reference/cli.md`: the help of every command, in the order of the program's own help. */
export async function cliReference(): Promise<string> {
  const shown = commands.filter(({ group }) => group !== undefined);
  const groups = [...new Set(shown.map(({ group = '' }) => group))];
  const parts = await Promise.all(
    groups.map(async group => {
      const entries = shown.filter(each => each.group === group);
      const sections = (await Promise.all(entries.map(programCommands))).flat();
      return [`## ${group.replace(/:$/, '')}`, ...sections.map(sectionOf)].join('\n\n');
    }),
  );
  return `${[
    '# Commands',
    '<!-- Generated from the program by scripts/reference/cli-reference.ts; edits are lost. -->',
    `What \`signalbox COMMAND --help\` says. A run is named by the beginning or end of its id, by its name, as \`@last\` or as \`@failed\`. Every command exits with
0 when it is done, 1 when it failed, 2 when it was called wrongly, 3 when a person has to answer, and 4 when it was refused.`,
    ...parts,
  ].join('\n\n')}\n`;
}

/** A command with its subcommands. */
export async function programCommands(entry: CommandEntry): Promise<readonly ProgramCommand[]> {
  let said = '';
  const terminal = {
    print: (text: string) => {
      said += `${text}\n`;
    },
    complain: () => {},
    hasColours: false,
  };
  const program = await buildProgram(commands, entry, {
    terminal,
    signals: { ending: () => new AbortController().signal },
    self: { file: 'signalbox', args: [] },
    end: () => {},
  } as never);
  const root = program.commands.find(each => each.name() === nameOf(entry));
  const flat = (command: Command, name: string, above: readonly string[] = []): readonly ProgramCommand[] => {
    said = '';
    command.outputHelp();
    const own = command.options.flatMap(({ long, short }) => [long ?? [], short ?? []].flat());
    const options = [...above, ...own];
    return [
      { name, options, takesArguments: command.registeredArguments.length > 0, help: said.trimEnd() },
      ...command.commands
        .filter(each => each.name() !== 'help')
        .flatMap(each => flat(each, `${name} ${each.name()}`, options)),
    ];
  };
  return root === undefined ? [] : flat(root, root.name());
}

function sectionOf({ name, help }: ProgramCommand): string {
  return [`### ${name}`, '', '```text', help, '```'].join('\n');
}
