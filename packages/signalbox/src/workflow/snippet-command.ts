import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { usageError } from '@signalbox/app';
import { type WorkflowSnippet, withSnippet, workflowSnippets } from '@signalbox/app/guided';
import type { Command } from 'commander';
import { exitCodes } from '../exit-code.ts';
import { shown, type Terminal } from '../terminal.ts';
import { type Answer, parsed } from './authoring-commands.ts';

interface SnippetFlags {
  readonly into?: string;
  readonly vscode?: boolean;
  readonly json?: boolean;
}

/** `workflow snippets`: parts that run as they are, to look at or to put into a file. */
export function defineSnippets(command: Command, terminal: Terminal, answer: Answer): void {
  command
    .command('snippets [name]')
    .summary('list parts of workflows that run as they are, or put one into a file')
    .description(
      'Lists parts of workflows that run as they are: one for each construct of the format, and one for each contract. With a name it prints ' +
        'that part; with --into it adds the part to the end of a file.',
    )
    .option('--into <file>', 'add the part to this workflow')
    .option('--vscode', 'print all of them as snippets for VS Code')
    .option('--json', 'print JSON')
    .action((name: string | undefined, flags: SnippetFlags) =>
      answer(flags, async () => {
        const all = workflowSnippets();
        if (flags.vscode) {
          terminal.print(JSON.stringify(forVsCode(all), null, 2));
          return exitCodes.done;
        }
        if (name === undefined) {
          if (flags.into !== undefined) return usageError('--into needs the name of a part.', NAMES);
          for (const each of all) {
            terminal.print(flags.json ? JSON.stringify(each) : `${each.name.padEnd(40)}  ${shown(each.purpose)}`);
          }
          return exitCodes.done;
        }
        const snippet = all.find(each => each.name === name);
        if (snippet === undefined) return usageError(`There is no part "${name}".`, NAMES);
        if (flags.into === undefined) {
          const { steps, lists } = snippet;
          terminal.print(JSON.stringify({ ...lists, steps }, null, flags.json ? undefined : 2));
          return exitCodes.done;
        }
        const source = existsSync(flags.into) ? parsed(readFileSync(flags.into, 'utf8')) : undefined;
        if (source === undefined) return usageError(`${flags.into} is no JSON file.`, 'Name a workflow file.');
        writeFileSync(flags.into, `${JSON.stringify(withSnippet(source as never, snippet), null, 2)}\n`);
        terminal.print(`Added ${name} to ${flags.into}. Check it with: signalbox workflow validate ${flags.into}`);
        return exitCodes.done;
      }),
    );
}

const NAMES = 'List the parts with "signalbox workflow snippets".';

function forVsCode(all: readonly WorkflowSnippet[]): object {
  return Object.fromEntries(
    all.map(({ name, purpose, steps }) => {
      const body = steps.map(step => JSON.stringify(step, null, 2).replaceAll('$', '\\$')).join(',\n');
      return [name, { prefix: `sb-${name}`, scope: 'json,jsonc', description: purpose, body: body.split('\n') }];
    }),
  );
}
