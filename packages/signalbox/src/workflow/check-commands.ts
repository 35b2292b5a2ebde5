import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type ErrorEnvelope, usageError } from '@signalbox/app';
import { checkSource, checkWorkflow, fixedSource, previewWorkflow } from '@signalbox/app/guided';
import type { Command } from 'commander';
import type { CommandContext } from '../command.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { paintOf, shown } from '../terminal.ts';
import { type Answer, parsed } from './authoring-commands.ts';
import { lineDiff } from './line-diff.ts';
import { watchedFor, watchFiles } from './watch-files.ts';
import { describeCheck, reportOf } from './workflow-check-report.ts';
import { remoteRefusal, WORKFLOWS_OPTION, type WorkflowFlags, workflowPlaces } from './workflow-places.ts';

interface CheckContext extends Pick<CommandContext, 'terminal' | 'signals'> {
  readonly answer: Answer;
}

interface ValidateFlags extends WorkflowFlags {
  readonly strict?: boolean;
  readonly fix?: boolean;
  readonly dryRun?: boolean;
  readonly watch?: boolean;
}

interface PreviewFlags extends WorkflowFlags {
  readonly context: string;
  readonly sizes?: boolean;
  readonly watch?: boolean;
}

/** What a look at a workflow comes to. */
interface Look {
  readonly text: string;
  readonly isFit: boolean;
}

const WATCH_OPTION = ['--watch', 'look again after every change, until interrupted'] as const;

/** The subcommands that compile a workflow and say what came of it. */
export function defineChecks(command: Command, { terminal, signals, answer }: CheckContext): void {
  command
    .command('validate <file|id>')
    .summary('report every problem of a workflow, its place and its fix')
    .description(
      'Reports every problem of a workflow, with its place in the file and its fix. With --fix, fixes that a problem names are written to the ' +
        'file, and shown as a diff; problems that need a choice stay.',
    )
    .option('--strict', 'for authors: unknown fields and ids without a namespace are errors')
    .option('--fix', 'apply the fixes that problems name, and show them')
    .option('--dry-run', 'with --fix: show them and write nothing')
    .option(...WATCH_OPTION)
    .option(...WORKFLOWS_OPTION)
    .option('--json', 'print the report as JSON')
    .action((target: string, flags: ValidateFlags) =>
      answer(flags, async () => {
        if (flags.fix === true) {
          const refused = fixRefusal(target, flags) ?? (await fix(target, flags));
          if (refused !== undefined) return refused;
        } else if (flags.dryRun === true) {
          return usageError('--dry-run needs --fix.', 'Add --fix, or leave out --dry-run.');
        }
        return looked(target, flags, () => validated(target, flags));
      }),
    );

  command
    .command('preview <file|id>')
    .summary('show every prompt as an agent would see it, with its size')
    .description('Shows every prompt as an agent would see it in the first turn of its loops, with its size in tokens.')
    .option('--context <json>', 'the context that the prompts read', '{}')
    .option('--sizes', 'only titles and sizes')
    .option(...WATCH_OPTION)
    .option(...WORKFLOWS_OPTION)
    .option('--json', 'print one JSON object per step')
    .action((target: string, flags: PreviewFlags) =>
      answer(flags, async () => {
        const context = parsed(flags.context);
        if (context === undefined) return usageError('--context is not a JSON object.', "For example --context '{}'.");
        return looked(target, flags, () => previewed(target, context, flags));
      }),
    );

  /** Prints a look, or one after every change. While watching, a file that is gone or half written is no reason to end. */
  async function looked(
    target: string,
    flags: WorkflowFlags & { readonly watch?: boolean },
    look: () => Promise<Look | ErrorEnvelope>,
  ): Promise<ExitCode | ErrorEnvelope> {
    const first = remoteRefusal(target) ?? (await look());
    if (!('isFit' in first) || flags.watch !== true) {
      if (!('isFit' in first)) return first;
      terminal.print(first.text);
      return first.isFit ? exitCodes.done : exitCodes.failed;
    }
    const file = existsSync(target) ? target : undefined;
    await watchFiles(watchedFor(file, workflowPlaces(flags.workflows)), {
      look: async () => {
        const seen = await look();
        return 'isFit' in seen ? seen.text : `${seen.message} ${seen.suggestion}`;
      },
      print: text => terminal.print(text),
      ending: signals.ending(),
    });
    return exitCodes.done;
  }

  async function validated(target: string, flags: ValidateFlags): Promise<Look | ErrorEnvelope> {
    const mode = flags.strict ? 'strict' : 'load';
    const checked = await checkWorkflow(target, { directories: workflowPlaces(flags.workflows), mode });
    if (!checked.ok) return checked.error;
    const report = reportOf(checked.value);
    const text = flags.json ? JSON.stringify(report) : describeCheck(target, report, paintOf(terminal));
    return { text, isFit: report.ok };
  }

  async function previewed(target: string, context: object, flags: PreviewFlags): Promise<Look | ErrorEnvelope> {
    const checked = await checkWorkflow(target, { directories: workflowPlaces(flags.workflows), mode: 'load' });
    if (!checked.ok) return checked.error;
    const paint = paintOf(terminal);
    if (!checked.value.ok) return { text: describeCheck(target, reportOf(checked.value), paint), isFit: false };
    const { snapshot, workflowHash } = checked.value.value;
    const steps = previewWorkflow(snapshot, context as never);
    const lines = steps.map(step => {
      const where = [...step.loops, step.stepId].join(' / ');
      const head = paint.strong(`# ${shown(step.title)} (${where}), about ${step.tokens} tokens`);
      return flags.json ? JSON.stringify(step) : flags.sizes ? head : `${head}\n\n${step.prompt}\n`;
    });
    const total = steps.reduce((sum, { tokens }) => sum + tokens, 0);
    if (!flags.json) lines.push(`${steps.length} steps, about ${total} tokens; ${workflowHash}`);
    return { text: lines.join('\n'), isFit: true };
  }

  /** Undefined once done. */
  async function fix(target: string, flags: ValidateFlags): Promise<ErrorEnvelope | undefined> {
    const before = readFileSync(target, 'utf8');
    const source = parsed(before);
    if (source === undefined) {
      return usageError(`${target} is not JSON, so nothing in it can be fixed.`, 'Validate it to see where it breaks.');
    }
    const directories = workflowPlaces(flags.workflows);
    const { source: fixed, fixes } = await fixedSource(source as never, each =>
      checkSource(each, { directories, mode: 'strict' }),
    );
    const after = `${JSON.stringify(fixed, null, indentOf(before))}${before.endsWith('\n') ? '\n' : ''}`;
    if (flags.json) terminal.complain(JSON.stringify({ fixes }));
    else if (fixes.length === 0) terminal.print('Nothing to fix by itself.');
    else terminal.print([`${flags.dryRun ? 'Would fix' : 'Fixed'} ${target}:`, ...shownDiff(before, after)].join('\n'));
    if (fixes.length > 0 && flags.dryRun !== true) {
      const temporary = path.join(path.dirname(target), `.${path.basename(target)}.${process.pid}.tmp`);
      writeFileSync(temporary, after);
      renameSync(temporary, target);
    }
    return undefined;
  }

  function shownDiff(before: string, after: string): readonly string[] {
    const paint = paintOf(terminal);
    return lineDiff(before, after).map(line => {
      const text = shown(line.replaceAll('\t', '  '));
      return line.startsWith('+') ? paint.good(text) : line.startsWith('-') ? paint.bad(text) : paint.faint(text);
    });
  }
}

function fixRefusal(target: string, { watch }: ValidateFlags): ErrorEnvelope | undefined {
  if (watch) return usageError('--fix cannot be used with --watch.', 'Fix once, then watch.');
  return existsSync(target)
    ? undefined
    : usageError(`There is no file ${target}; --fix changes files.`, 'Name the file, not the id of the workflow.');
}

/** As the file has it, so that a fix changes nothing else. */
function indentOf(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
}
