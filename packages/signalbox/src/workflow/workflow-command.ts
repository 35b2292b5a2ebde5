import { type ErrorEnvelope, usageError } from '@signalbox/app';
import type { DefineCommand } from '../command.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-code.ts';
import { paintOf, reportError, shown } from '../terminal.ts';
import { describeInspection } from './workflow-inspection.ts';
import { describeList, withStatus, workflowTools } from './workflow-list.ts';
import { missingPlace, WORKFLOWS_OPTION, type WorkflowFlags } from './workflow-places.ts';

export const defineWorkflow: DefineCommand = (command, { terminal, end }) => {
  const answer = async (flags: WorkflowFlags, act: () => Promise<ExitCode | ErrorEnvelope>) => {
    const outcome = missingPlace(flags.workflows) ?? (await act());
    if (typeof outcome === 'number') return end(outcome);
    reportError(terminal, outcome, flags.json ?? false);
    end(exitCodeOf(outcome));
  };

  command
    .description(
      'Looks at the workflows that agents are guided by: those that come with the program, and your own JSON files.',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox workflow list
  $ signalbox workflow inspect wr.code-review
  $ signalbox workflow list --workflows ./flows --json

Exit codes: 0 done, 1 failed, 2 usage.`,
    )
    .action(() => {
      reportError(terminal, usageError('Which of them?', 'See "signalbox workflow --help".'), false);
      end(exitCodes.usage);
    });

  command
    .command('list')
    .summary('list the workflows there are: id, name, where each comes from, and whether it can be run')
    .description('Lists the workflows there are: id, name, where each comes from, and whether it can be run.')
    .option(...WORKFLOWS_OPTION)
    .option('--routines', 'also list routines, which other workflows are built from')
    .option('--json', 'print one workflow a line as JSON')
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
    .summary('show a workflow: what it is for, what it needs, and its steps')
    .description(
      'Shows a workflow: what it is for, what it needs, and its steps, as an agent can see them before the start.',
    )
    .option(...WORKFLOWS_OPTION)
    .option('--json', 'print it as JSON')
    .action((workflowId: string, flags: WorkflowFlags) =>
      answer(flags, async () => {
        const inspected = await workflowTools(flags.workflows).inspect({ workflowId });
        if (!inspected.ok) return inspected.error;
        const { nextCall: _, ...rest } = inspected.value;
        terminal.print(flags.json ? JSON.stringify(rest) : describeInspection(inspected.value, paintOf(terminal)));
        return exitCodes.done;
      }),
    );
};
