import { readFileSync } from 'node:fs';
import { usageError } from '@signalbox/app';
import { findPlanRun } from '@signalbox/app/all-runs';
import { type ErrorEnvelope, type RedactionReport, type Result, unconfirmedRedaction } from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { confirm } from '../forks/confirm.ts';
import { withOwner } from '../owner/with-owner.ts';
import { type Paint, paintOf, shown } from '../terminal.ts';

interface RedactFlags extends DataFlags {
  readonly value?: string;
  readonly valueFile?: string;
  readonly name?: string;
  readonly reason?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export const defineRedact: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Removes a secret from a run, its sub-plans and its forks: from their logs, tables, journals and contents, also in escaped or ' +
        'encoded form (JSON, URL, base64, hex). A mark replaces it, the run still verifies, and its log records what was changed, by whom ' +
        'and why. This cannot be undone. From then on no run writes the value again. Copies out of its reach are listed. Pause an ' +
        'active run first.',
    )
    .option('--value <text>', 'the secret; others may see it in your shell history and in "ps", so prefer --value-file')
    .option('--value-file <file>', 'read the secret from a file, or from standard input: "-"')
    .option('--name <name>', 'name in the mark: [redacted: NAME]')
    .option('--reason <text>', 'why; recorded in the log')
    .option('--dry-run', 'only show what would change')
    .option('--yes', 'skip the confirmation')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the changes as JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox redact 019b8d62 --value-file secret.txt --dry-run
  $ pass show ci/token | signalbox redact 019b8d62 --value-file - --name CI_TOKEN --reason "leaked in a log" --yes`,
    )
    .action(async (given: string, flags: RedactFlags) => {
      end(
        await withOwner(terminal, flags, async (owner): Promise<ExitCode | ErrorEnvelope> => {
          const value = secretIn(flags);
          if (!value.ok) return value.error;
          const run = await findPlanRun(owner.reader, askedDataDirectory(flags.dataDir), given);
          if (!run.ok) return run.error;
          const { id } = run.value;
          const { name, reason: why, dryRun = false, yes = false, json = false } = flags;
          const request = { value: value.value, ...(name && { name }), ...(why && { why }) };
          const print = (report: RedactionReport) =>
            terminal.print(json ? JSON.stringify(report) : describeRedaction(report, paintOf(terminal)).join('\n'));
          if (dryRun || !yes) {
            const planned = await owner.redact(id, { ...request, dryRun: true });
            if (!planned.ok) return planned.error;
            if (dryRun) {
              print(planned.value);
              return exitCodes.done;
            }
            for (const line of describeRedaction(planned.value, paintOf(terminal))) terminal.complain(line);
            if (!(await confirm('Redact?'))) return unconfirmedRedaction(id, planned.value);
          }
          const done = await owner.redact(id, request);
          if (!done.ok) return done.error;
          print(done.value);
          return exitCodes.done;
        }),
      );
    });
};

/** Reads once. A trailing newline is not part of the secret. */
function secretIn({ value, valueFile }: RedactFlags): Result<string, ErrorEnvelope> {
  if ((value === undefined) === (valueFile === undefined)) {
    return failed(
      usageError('Give the secret with --value or --value-file.', 'Read it from standard input: --value-file -'),
    );
  }
  if (value !== undefined) return { ok: true, value: value };
  try {
    return {
      ok: true,
      value: readFileSync(valueFile === '-' ? 0 : (valueFile as string), 'utf8').replace(/\r?\n$/, ''),
    };
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    return failed(usageError(`${valueFile} cannot be read (${code}).`, 'Give a file that contains only the secret.'));
  }
}

/** What was or would be changed, then where the value remains. */
function describeRedaction(report: RedactionReport, paint: Paint): readonly string[] {
  const { dryRun, runs, blobs, logs, left, outside, name } = report;
  const would = dryRun ? 'would be ' : '';
  const changed = runs.filter(({ records, tokens }) => records.length > 0 || tokens);
  return [
    ...changed.map(
      ({ run, records, tokens }) =>
        `${run}  ${records.length} ${records.length === 1 ? 'record' : 'records'} ${would}redacted` +
        (tokens ? `, token-by-token output of agents ${would}removed` : ''),
    ),
    ...(blobs + logs === 0 ? [] : [`${blobs} contents ${would}removed, ${logs} logs ${would}rewritten`]),
    ...left.map(({ where, why }) => paint.doubtful(`not reached  ${shown(where)}: ${shown(why)}`)),
    paint.faint(`Out of reach, outside the data directory: ${outside.join('; ')}.`),
    changed.length + blobs + logs === 0
      ? 'The value is not in the run.'
      : paint.good(`${dryRun ? 'Nothing was changed. The mark would be' : 'The mark is'} [redacted: ${shown(name)}].`),
  ];
}

function failed(error: ErrorEnvelope): Result<never, ErrorEnvelope> {
  return { ok: false, error };
}
