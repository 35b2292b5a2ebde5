import { type LintFinding, lintPlan } from '@signalbox/plan/lint';
import type { DefineCommand } from '../command.ts';
import { exitCodes } from '../exit-code.ts';
import { paintOf, reportError } from '../terminal.ts';
import { describeCounts, describeFindings } from './lint-report.ts';

interface LintFlags {
  readonly json?: boolean;
  readonly strict?: boolean;
}

export const defineLint: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Checks plans and the local files they import, without running them, for code that would fail, could not be replayed or would ' +
        'lose data at a restart, and for endless loops. "// signalbox-ignore RULE" ignores its own line and the next.',
    )
    .option('--strict', 'treat warnings as errors')
    .option('--json', 'print findings as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  $ signalbox lint plans/*.tsx --strict\n\nExit codes: 0 no errors, 1 errors, or warnings with --strict, 2 usage.',
    )
    .action((plans: readonly string[], { json = false, strict = false }: LintFlags) => {
      const findings = new Map<string, LintFinding>();
      for (const plan of plans) {
        const linted = lintPlan(plan);
        if (!linted.ok) {
          reportError(terminal, linted.error, json);
          return end(exitCodes.usage);
        }
        // Plans share files.
        for (const finding of linted.value) findings.set(JSON.stringify(finding), finding);
      }
      const found = [...findings.values()];
      if (json) terminal.print(JSON.stringify(found));
      else
        terminal.print(
          [...describeFindings(found, process.cwd(), paintOf(terminal)), describeCounts(found)].join('\n'),
        );
      const counts = found.some(({ severity }) => severity === 'error' || (strict && severity === 'warning'));
      end(counts ? exitCodes.failed : exitCodes.done);
    });
};
