import { lintPlan } from '@signalbox/plan/lint';
import type { DefineCommand } from '../command.ts';
import { exitCodes } from '../exit-code.ts';
import { paintOf, reportError, shown } from '../terminal.ts';
import { describeCounts, describeFindings, type Problem } from './lint-report.ts';
import { checkTypes, type TypeCheck } from './type-check.ts';

interface LintFlags {
  readonly json?: boolean;
  readonly strict?: boolean;
  /** False with --no-types. */
  readonly types?: boolean;
}

export const defineLint: DefineCommand = (command, { terminal, end, signals }) => {
  command
    .description(
      'Checks plans and the local files they import, without running them, for code that would fail, could not be replayed or would ' +
        'lose data at a restart, and for endless loops. Their types are checked where TypeScript is installed beside them. "// signalbox-ignore RULE" ignores its own line and the next.',
    )
    .option('--strict', 'treat warnings as errors')
    .option('--no-types', 'leave types out')
    .option('--json', 'print findings as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  $ signalbox lint plans/*.tsx --strict\n\nExit codes: 0 no errors, 1 errors, or warnings with --strict, 2 usage.',
    )
    .action(async (plans: readonly string[], { json = false, strict = false, types = true }: LintFlags) => {
      const findings = new Map<string, Problem>();
      for (const plan of plans) {
        const linted = lintPlan(plan);
        if (!linted.ok) {
          reportError(terminal, linted.error, json);
          return end(exitCodes.usage);
        }
        // Plans share files.
        for (const finding of linted.value) findings.set(JSON.stringify(finding), finding);
      }
      // A file that cannot be parsed has no types.
      const isReadable = ![...findings.values()].some(({ rule }) => rule === 'syntax');
      const checked: TypeCheck =
        types && isReadable ? await checkTypes(plans, signals.ending()) : { problems: [], notes: [] };
      const found = [...findings.values(), ...checked.problems];
      for (const note of checked.notes) terminal.complain(shown(note));
      if (json) terminal.print(JSON.stringify(found));
      else
        terminal.print(
          [...describeFindings(found, process.cwd(), paintOf(terminal)), describeCounts(found)].join('\n'),
        );
      const counts = found.some(({ severity }) => severity === 'error' || (strict && severity === 'warning'));
      end(counts ? exitCodes.failed : exitCodes.done);
    });
};
