import { usageError } from '@signalbox/app';
import { type ErrorEnvelope, type FoundThing, findBeside, findQuery, type Reader } from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { paintOf, reportError, shown, type Terminal } from '../terminal.ts';
import { withReader } from '../with-reader.ts';

interface FindFlags extends DataFlags {
  readonly kind?: string[];
  readonly run?: string;
  readonly since?: string;
  readonly limit?: string;
}

export const defineFind: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Searches runs, nodes, messages, tool calls, files, artifacts and guided notes. Every word must occur, at least as the beginning ' +
        'of a word; put words that follow each other in quotation marks.',
    )
    .option('--kind <kind...>', 'only these kinds: run, node, message, call, file, artifact, note')
    .option('--run <run>', 'only in this run, by its full id')
    .option('--since <time>', 'only what was written at or after this time, in ISO 8601')
    .option('--limit <n>', 'how many results, up to 100', '30')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the results as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  $ signalbox find login.ts --kind file\n  $ signalbox find \'"rate limit" orders\'',
    )
    .action(async (words: string[], flags: FindFlags) => {
      const { kind, run, since, limit, json = false } = flags;
      const query = findQuery.safeParse({ q: words.join(' '), limit, kind: kind?.join(','), run, since });
      if (!query.success) {
        const issue = query.error.issues[0];
        const where = issue?.path[0] === 'q' ? 'the text' : `--${String(issue?.path[0])}`;
        reportError(terminal, usageError(`${where}: ${issue?.message}.`, 'See "signalbox find --help".'), json);
        return end(exitCodes.usage);
      }
      const directory = askedDataDirectory(flags.dataDir);
      const find = async (reader?: Reader): Promise<ExitCode | ErrorEnvelope> => {
        const found = await findBeside({ dataDirectory: directory, reader }, query.data);
        if (!found.ok) return found.error;
        if (json) terminal.print(JSON.stringify(found.value));
        else if (found.value.found.length === 0) terminal.print('No results.');
        else for (const thing of found.value.found) terminal.print(describe(terminal, thing));
        return exitCodes.done;
      };
      end(await withReader(terminal, flags, find, () => find()));
    });
};

function describe(
  terminal: Terminal,
  { kind, run, runName, session, node, artifact, title, snippet, at }: FoundThing,
): string {
  const { strong, faint } = paintOf(terminal);
  const place = [
    run ?? session,
    node === undefined ? undefined : `node ${shown(node)}`,
    artifact && `artifact ${artifact}`,
  ];
  const text = snippet
    .map(part => (part.hit ? strong(shown(oneLine(part.text))) : shown(oneLine(part.text))))
    .join('')
    .trim();
  const head = `${kind.padEnd(8)}  ${strong(shown(title))}${runName === undefined || kind === 'run' ? '' : `  in ${shown(runName)}`}`;
  return [
    head,
    `          ${faint([...place.filter(part => part !== undefined), at].join('  '))}`,
    ...(text === '' ? [] : [`          ${text}`]),
  ].join('\n');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}
