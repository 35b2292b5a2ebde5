import { configOf, openGuidedTools, recordAppliedConfig } from '@signalbox/app/guided';
import { thisMachine } from '@signalbox/app/runs';
import { createAgentMcp, serveOnStdio } from '@signalbox/server';
import manifest from '../package.json' with { type: 'json' };
import type { DefineCommand } from './command.ts';
import { DATA_DIR_OPTION, type DataFlags } from './data-directory-option.ts';
import { exitCodeOf, exitCodes } from './exit-code.ts';
import { reportError } from './terminal.ts';
import {
  askedDataDirectory,
  cannotMake,
  missingPlace,
  WORKFLOWS_OPTION,
  type WorkflowFlags,
  workflowPlaces,
} from './workflow/workflow-places.ts';

export const defineMcp: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Gives an agent guided workflows over MCP on its standard streams: it sees one step at a time, and can lose its whole chat ' +
        'and still go on. Ends when the agent closes its end. Any number of these may serve one data directory, beside "signalbox serve".',
    )
    .option(...WORKFLOWS_OPTION)
    .option(...DATA_DIR_OPTION)
    .addHelpText(
      'after',
      `
Tell your MCP client to start it:
  { "mcpServers": { "signalbox": { "command": "npx", "args": ["signalbox", "mcp"] } } }

Exit codes: 0 the agent closed its end, 2 usage.`,
    )
    .action(async ({ workflows, dataDir }: DataFlags & WorkflowFlags) => {
      const directory = askedDataDirectory(dataDir);
      const refused = missingPlace(workflows) ?? cannotMake(directory);
      if (refused !== undefined) {
        reportError(terminal, refused, false);
        return end(exitCodeOf(refused));
      }
      const onFault = (thrown: unknown) =>
        terminal.complain(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown));
      const machine = thisMachine();
      const directories = workflowPlaces(workflows);
      const recorded = recordAppliedConfig(directory, configOf(manifest.version, directories), machine.clock);
      if (!recorded.ok) terminal.complain(recorded.error.message);
      const tools = openGuidedTools({ dataDirectory: directory, directories, machine });
      await serveOnStdio(createAgentMcp(tools, { onFault }), onFault);
      end(exitCodes.done);
    });
};
