import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { type ErrorEnvelope, usageError } from '@signalbox/app';
import type { Command } from 'commander';
import type { CommandContext } from '../command.ts';
import { DATA_DIR_OPTION, type DataFlags, writableDataDirectory } from '../data-directory-option.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-code.ts';
import { reportError } from '../terminal.ts';
import { changedFile, entryText } from './client-file.ts';
import { type McpClient, type McpClientName, type McpTarget, mcpClients } from './mcp-clients.ts';
import { ownMcpProgram } from './own-mcp-program.ts';
import { targetFault } from './program-check.ts';

interface InstallFlags extends DataFlags {
  readonly print?: boolean;
  readonly remove?: boolean;
  readonly dryRun?: boolean;
  readonly url?: string;
  readonly tokenVariable: string;
  readonly command?: string;
  readonly check: boolean;
}

const NAMES = Object.keys(mcpClients).join(' | ');

export function defineInstall(parent: Command, { terminal, end }: CommandContext): void {
  parent
    .command('install <client>')
    .summary('add signalbox to the configuration of an MCP client')
    .description(
      `Adds signalbox to the configuration of an MCP client (${NAMES}), in the file that the client documents: of this project where ` +
        'the client has one, else of the user. Other entries stay. The program is started first, to see that it answers.',
    )
    .option('--print', 'print the entry instead of writing it')
    .option('--dry-run', 'say which file would be written, and its content')
    .option('--remove', 'remove the entry')
    .option(
      '--url <url>',
      'use a running server, such as http://127.0.0.1:4280/mcp/agent, instead of starting the program',
    )
    .option(
      '--token-variable <name>',
      'the environment variable that holds the agent token for --url',
      'SIGNALBOX_AGENT_TOKEN',
    )
    .option('--command <line>', 'start this instead, for example "npx -y signalbox mcp"')
    .option('--no-check', 'do not start the program first')
    .option(...DATA_DIR_OPTION)
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox mcp install claude
  $ signalbox mcp install codex --print
  $ signalbox mcp install cursor --url http://127.0.0.1:4280/mcp/agent    with a token of: signalbox users add NAME --role agent
  $ signalbox mcp install gemini --remove

Exit codes: 0 done, 1 the program does not start or the file cannot be changed, 2 usage.`,
    )
    // The parent has --data-dir too, and commander gives it to the parent.
    .action(async (name: string, _flags: InstallFlags, self: Command) => {
      const flags = self.optsWithGlobals<InstallFlags>();
      const outcome = await install(name, flags);
      if (typeof outcome === 'number') return end(outcome);
      reportError(terminal, outcome, false);
      end(exitCodeOf(outcome));
    });

  async function install(name: string, flags: InstallFlags): Promise<ExitCode | ErrorEnvelope> {
    const client: McpClient | undefined = Object.hasOwn(mcpClients, name)
      ? mcpClients[name as McpClientName]
      : undefined;
    if (client === undefined) return usageError(`There is no client "${name}" here.`, `Use one of ${NAMES}.`);
    const target = targetOf(flags);
    const entry = client.entry(target);
    if (entry === undefined) {
      return usageError(`${client.title} cannot use --url with a token from the environment.`, 'Leave out --url.');
    }
    if (flags.print) {
      terminal.print(entryText(client, entry));
      return exitCodes.done;
    }
    const file = client.file({ home: homedir(), project: process.cwd() });
    const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    if (flags.remove === true && before === undefined) {
      terminal.print(`${file} does not exist; nothing to remove.`);
      return exitCodes.done;
    }
    const changed = changedFile(client, before, flags.remove ? undefined : entry);
    if ('unreadable' in changed) {
      return usageError(
        `${file} was not changed: ${changed.unreadable}.`,
        `Add this to it yourself:\n${entryText(client, entry)}`,
      );
    }
    if (flags.dryRun) {
      terminal.print(`Would write ${file}:\n${changed.text}`);
      return exitCodes.done;
    }
    // No client could start a server on a directory that is refused.
    if (flags.dataDir !== undefined && !flags.remove) writableDataDirectory(flags.dataDir);
    if (!flags.remove && flags.check) {
      const fault = await targetFault(target, process.env[flags.tokenVariable]);
      if (fault !== undefined) {
        terminal.complain(`${client.title} was not configured: ${lineOf(target)} does not work: ${fault}`);
        return exitCodes.failed;
      }
    }
    try {
      written(file, changed.text);
    } catch (thrown) {
      terminal.complain(`${file} cannot be written: ${thrown instanceof Error ? thrown.message : 'unknown reason'}`);
      return exitCodes.failed;
    }
    terminal.print(
      flags.remove
        ? `Removed signalbox from ${file}. Restart ${client.title}.`
        : `Added signalbox to ${file}. Restart ${client.title}; then ask it to list the guided workflows.`,
    );
    return exitCodes.done;
  }
}

function targetOf({ url, tokenVariable, command, dataDir }: InstallFlags): McpTarget {
  if (url !== undefined) return { kind: 'http', url, tokenVariable };
  const more = dataDir === undefined ? [] : ['--data-dir', path.resolve(dataDir)];
  const [first = '', ...rest] = command?.trim().split(/\s+/) ?? ownMcpProgram();
  return { kind: 'stdio', command: first, args: [...rest, ...more] };
}

function lineOf(target: McpTarget): string {
  return target.kind === 'http' ? target.url : [target.command, ...target.args].join(' ');
}

/** Whole or not at all. */
function written(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, text);
  renameSync(temporary, file);
}
