import { usageError } from '@signalbox/app';
import { checkWorkflow, configOf, guidedPreferences, hashInputs, readAppliedConfig } from '@signalbox/app/guided';
import manifest from '../../package.json' with { type: 'json' };
import type { DefineCommand } from '../command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { exitCodeOf, exitCodes } from '../exit-code.ts';
import { paintOf, reportError, shown } from '../terminal.ts';
import { type Answer, defineAuthoring } from './authoring-commands.ts';
import { defineChecks } from './check-commands.ts';
import { defineSnippets } from './snippet-command.ts';
import { describeCheck, reportOf } from './workflow-check-report.ts';
import { configReport, describeConfig } from './workflow-config.ts';
import { describeInspection } from './workflow-inspection.ts';
import { describeList, withStatus, workflowTools } from './workflow-list.ts';
import {
  missingPlace,
  remoteRefusal,
  WORKFLOWS_OPTION,
  type WorkflowFlags,
  workflowPlaces,
} from './workflow-places.ts';

export const defineWorkflow: DefineCommand = (command, { terminal, signals, end }) => {
  const answer: Answer = async (flags, act) => {
    const outcome = missingPlace(flags.workflows) ?? (await act());
    if (typeof outcome === 'number') return end(outcome);
    reportError(terminal, outcome, flags.json ?? false);
    end(exitCodeOf(outcome));
  };

  command
    .description('Writes, inspects, checks and tries guided workflows: the bundled ones and your own JSON files.')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox workflow list
  $ signalbox workflow inspect wr.code-review
  $ signalbox workflow list --workflows ./flows --json
  $ signalbox workflow new team.triage --step Reproduce --step Locate --step Report
  $ signalbox workflow copy wr.code-review team.review
  $ signalbox workflow validate ./flows/triage.json --strict --watch
  $ signalbox workflow validate ./flows/triage.json --fix
  $ signalbox workflow snippets while --into ./flows/triage.json
  $ signalbox workflow preview ./flows/triage.json --sizes
  $ signalbox workflow test ./flows/triage.json --answers ./flows/triage.answers.json
  $ signalbox workflow compile ./flows/triage.json > triage.compiled.json

Exit codes: 0 done, 1 failed or not valid, 2 usage.`,
    )
    .action(() => {
      reportError(terminal, usageError('Name a subcommand.', 'See "signalbox workflow --help".'), false);
      end(exitCodes.usage);
    });

  defineChecks(command, { terminal, signals, answer });
  defineSnippets(command, terminal, answer);
  defineAuthoring(command, terminal, answer);

  command
    .command('list')
    .summary('list workflows: id, name, origin, and whether each can be run')
    .description('Lists workflows: id, name, origin, and whether each can be run.')
    .option(...WORKFLOWS_OPTION)
    .option('--routines', 'also list routines, which other workflows use')
    .option('--json', 'print one JSON object per line')
    .action((flags: WorkflowFlags & { readonly routines?: boolean }) =>
      answer(flags, async () => {
        const listed = await workflowTools(flags.workflows).list({ includeRoutines: flags.routines ?? false });
        if (!listed.ok) return listed.error;
        const { workflows, problems, omittedProblems } = listed.value;
        if (flags.json) for (const each of workflows) terminal.print(JSON.stringify(withStatus(each)));
        else if (workflows.length > 0) terminal.print(describeList(workflows, paintOf(terminal)));
        for (const { sourceRef, message } of problems) terminal.complain(`${shown(sourceRef)}: ${shown(message)}`);
        if (omittedProblems > 0) terminal.complain(`and ${omittedProblems} more files`);
        return exitCodes.done;
      }),
    );

  command
    .command('inspect <id>')
    .summary('show a workflow: its purpose, requirements, steps, and what its hash covers')
    .description(
      'Shows a workflow as an agent can see it before starting: its purpose, requirements and steps; and what its hash covers, to which runs are pinned.',
    )
    .option(...WORKFLOWS_OPTION)
    .option('--json', 'print JSON')
    .action((workflowId: string, flags: WorkflowFlags) =>
      answer(flags, async () => {
        const remote = remoteRefusal(workflowId);
        if (remote !== undefined) return remote;
        const inspected = await workflowTools(flags.workflows).inspect({ workflowId });
        if (!inspected.ok) return inspected.error;
        const { nextCall: _, ...rest } = inspected.value;
        const checked = await checkWorkflow(workflowId, { directories: workflowPlaces(flags.workflows), mode: 'load' });
        const hashed = checked.ok && checked.value.ok ? hashInputs(checked.value.value.snapshot) : [];
        terminal.print(
          flags.json
            ? JSON.stringify({ ...rest, hashed })
            : describeInspection(inspected.value, hashed, paintOf(terminal)),
        );
        return exitCodes.done;
      }),
    );

  command
    .command('config')
    .summary('compare the desired configuration with the one the last server started with')
    .description(
      'Shows the configuration a server would start with here, and whether the last one started with it. Workflows added to a known ' +
        'directory are found at once; a new directory, version or default takes effect at the next start of "mcp" or "serve".',
    )
    .option(...WORKFLOWS_OPTION)
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print both as JSON')
    .action((flags: WorkflowFlags & DataFlags) =>
      answer(flags, async () => {
        const directory = askedDataDirectory(flags.dataDir);
        const preferences = guidedPreferences(directory);
        const desired = configOf(manifest.version, workflowPlaces(flags.workflows), preferences);
        const applied = readAppliedConfig(directory);
        terminal.print(
          flags.json
            ? JSON.stringify(configReport(desired, applied))
            : describeConfig(desired, applied, paintOf(terminal)),
        );
        return exitCodes.done;
      }),
    );

  command
    .command('compile <file|id>')
    .summary('print the snapshot that a run would be pinned to')
    .description(
      'Prints the snapshot that a run would be pinned to, as JSON. Its hash goes to standard error, or with --json into the same object.',
    )
    .option(...WORKFLOWS_OPTION)
    .option('--json', 'print one object with workflowHash and snapshot')
    .action((target: string, flags: WorkflowFlags) =>
      answer(flags, async () => {
        const remote = remoteRefusal(target);
        if (remote !== undefined) return remote;
        const checked = await checkWorkflow(target, { directories: workflowPlaces(flags.workflows), mode: 'load' });
        if (!checked.ok) return checked.error;
        if (!checked.value.ok) {
          const report = reportOf(checked.value);
          if (flags.json) terminal.print(JSON.stringify(report));
          else terminal.complain(describeCheck(target, report, paintOf(terminal)));
          return exitCodes.failed;
        }
        const { snapshot, workflowHash } = checked.value.value;
        terminal.print(JSON.stringify(flags.json ? { workflowHash, snapshot } : snapshot));
        if (!flags.json) terminal.complain(workflowHash);
        return exitCodes.done;
      }),
    );
};
