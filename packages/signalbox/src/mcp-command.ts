import { thrownStack, usageError } from '@signalbox/app';
import { configOf, guidedPreferences, openGuidedTools, recordAppliedConfig } from '@signalbox/app/guided';
import { type ErrorEnvelope, thisMachine } from '@signalbox/app/host';
import { createAgentMcp, serveOnStdio } from '@signalbox/server';
import type { Command } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import type { CommandContext, DefineCommand } from './command.ts';
import { DATA_DIR_OPTION, type DataFlags, writableDataDirectory } from './data-directory-option.ts';
import { exitCodeOf, exitCodes } from './exit-code.ts';
import { defineInstall } from './install/install-command.ts';
import { reportError } from './terminal.ts';
import { missingPlace, WORKFLOWS_OPTION, type WorkflowFlags, workflowPlaces } from './workflow/workflow-places.ts';

interface McpFlags extends DataFlags, WorkflowFlags {
  readonly operator?: boolean;
}

/** The command; it loads the operator's side on demand. */
export function mcpCommand(operatorSide: () => Promise<typeof import('./operator-stdio.ts')>): DefineCommand {
  return (command, context) => defineMcp(command, context, operatorSide);
}

function defineMcp(
  command: Command,
  context: CommandContext,
  operatorSide: () => Promise<typeof import('./operator-stdio.ts')>,
): void {
  const { terminal, signals, end } = context;
  defineInstall(command, context);
  command
    .description(
      'Serves guided workflows to an agent over MCP on stdio: the agent sees one step at a time, and can resume even if it loses its ' +
        'whole chat. Exits when the agent closes its end. Any number of these may serve one data directory, alongside "signalbox serve". ' +
        "With --operator it serves the operator's side instead: runs, and tools to start, stop, repair and decide. It then talks to the " +
        'process that owns the data directory, or owns it itself if there is none, until the client closes its end.',
    )
    .option('--operator', "serve an operator's tools and resources instead of an agent's")
    .option(...WORKFLOWS_OPTION)
    .option(...DATA_DIR_OPTION)
    .addHelpText(
      'after',
      `
Add it to an MCP client with "signalbox mcp install claude" (or another), or configure it yourself:
  { "mcpServers": { "signalbox": { "command": "npx", "args": ["signalbox", "mcp"] } } }
  { "mcpServers": { "signalbox-operator": { "command": "npx", "args": ["signalbox", "mcp", "--operator"] } } }

Exit codes: 0 the client closed its end, 1 the data directory cannot be written, 2 usage, 4 the owner of the data directory cannot be reached, 128+n ended by signal n.`,
    )
    .action(async ({ workflows, dataDir, operator = false }: McpFlags) => {
      const mixed = operator && workflows !== undefined ? operatorHasNone() : undefined;
      const refused = mixed ?? missingPlace(workflows);
      const refuse = (error: ErrorEnvelope) => {
        reportError(terminal, error, false);
        return end(exitCodeOf(error));
      };
      if (refused !== undefined) return refuse(refused);
      const directory = writableDataDirectory(dataDir);
      const ending = signals.ending();
      if (operator) {
        const { operatorOnStdio } = await operatorSide();
        const served = await operatorOnStdio(terminal, directory, ending);
        return served.ok ? end(exitCodes.done) : refuse(served.error);
      }
      const onFault = (thrown: unknown) => terminal.complain(thrownStack(thrown));
      const machine = thisMachine();
      const directories = workflowPlaces(workflows);
      const config = configOf(manifest.version, directories, guidedPreferences(directory));
      const recorded = recordAppliedConfig(directory, config, machine.clock);
      if (!recorded.ok) return refuse(recorded.error);
      const tools = openGuidedTools({ dataDirectory: directory, directories, machine });
      await serveOnStdio(createAgentMcp(tools, { onFault }), { onFault, ending });
      end(exitCodes.done);
    });
}

function operatorHasNone(): ErrorEnvelope {
  return usageError('--workflows is for agents, and --operator for operators.', 'Leave one of them out.');
}
