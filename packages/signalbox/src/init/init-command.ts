import path from 'node:path';
import type { DefineCommand } from '../command.ts';
import { exitCodeOf, exitCodes } from '../exit-code.ts';
import { quoted, reportError, shown } from '../terminal.ts';
import { MCP_SNIPPET } from './first-files.ts';
import { type Initialised, writeFirstFiles } from './write-first-files.ts';

interface InitFlags {
  readonly force?: boolean;
  readonly json?: boolean;
}

export const defineInit: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Creates a small plan that runs without keys or a network, and a tsconfig.json so that editors can check plans. Existing ' +
        'files are not overwritten unless you pass --force.',
    )
    .option('--force', 'overwrite existing files')
    .option('--json', 'print what was written as one line of JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox init
  $ signalbox init plans

Exit codes: 0 done, 2 usage, or a file already exists.`,
    )
    .action((given: string | undefined, { force = false, json = false }: InitFlags) => {
      const done = writeFirstFiles(path.resolve(given ?? '.'), { force });
      if (!done.ok) {
        reportError(terminal, done.error, json);
        return end(exitCodeOf(done.error));
      }
      terminal.print(json ? JSON.stringify(done.value) : describeInit(done.value, given ?? '.'));
      end(exitCodes.done);
    });
};

/** The files that were written, and what to do next. */
export function describeInit({ written, typesInstalled }: Initialised, folder: string): string {
  const place = (name: string) => shown(path.join(folder, name));
  const install = written.includes('package.json') ? 'npm install' : 'npm install --save-dev signalbox';
  const prefix = folder === '.' ? '' : `cd ${shown(quoted(folder))} && `;
  return [
    ...written.map(name => `wrote ${place(name)}`),
    '',
    'Run it:',
    `  signalbox run ${shown(quoted(path.join(folder, 'plan.tsx')))}`,
    ...(typesInstalled ? [] : ['', 'For the types in your editor:', `  ${prefix}${install}`]),
    '',
    'For an MCP client, if your version of Signalbox has "signalbox mcp" (see "signalbox --help"):',
    ...MCP_SNIPPET.split('\n').map(line => `  ${line}`),
  ].join('\n');
}
