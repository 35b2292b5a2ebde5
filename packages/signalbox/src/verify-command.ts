import { type VerifyReport, verifyDirectory } from '@signalbox/app';
import { verifyNamed } from './bundles/verify-named.ts';
import type { DefineCommand } from './command.ts';
import { DATA_DIR_OPTION } from './data-directory-option.ts';
import { exitCodeOf, exitCodes } from './exit-code.ts';
import { journalNamed } from './guided/session-journal.ts';
import { type Paint, paintOf, reportError, shown } from './terminal.ts';

interface VerifyFlags {
  readonly dataDir?: string;
  readonly expectHead?: string;
  readonly snapshots?: string;
  readonly json?: boolean;
}

export const defineVerify: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Checks a journal by its directory (with manifest.jsonl) or by the id of its guided session, from its files alone: order, digests, schema, ' +
        'dedupe keys and pinned snapshots. For a run id: its log, every row and blob derived from it, and its journal. For an exported file: every part. ' +
        'No network is used.',
    )
    .option('--expect-head <hash>', 'a head that you noted earlier; detects a history that was rewritten or cut')
    .option('--snapshots <dir>', 'the snapshot store; default: ../../snapshots relative to the journal, if it exists')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the report, or the error, as one line of JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox demo --scenes --dir tour
  $ signalbox verify tour/runs/*
  $ signalbox verify tour/runs/* --json
  $ signalbox verify 019b8d62                      a run or guided session; an id prefix is enough
  $ signalbox verify release.bundle                an exported run
  $ signalbox verify tour/runs/* --expect-head sha256:<the head you noted>

Exit codes: 0 healthy and as expected, 1 a defect or no journal, 2 usage.`,
    )
    .action(async (given: string, { expectHead, snapshots, dataDir, json = false }: VerifyFlags) => {
      const isRun =
        snapshots === undefined &&
        (await verifyNamed(terminal, given, { expectHead, json, ...(dataDir !== undefined && { dataDir }) }));
      if (isRun !== false) return end(isRun);
      const directory = journalNamed(given, dataDir);
      if (typeof directory !== 'string') {
        reportError(terminal, directory, json);
        return end(exitCodeOf(directory));
      }
      const verified = verifyDirectory(directory, { expectHead, snapshots });
      if (!verified.ok) {
        reportError(terminal, verified.error, json);
        return end(exitCodeOf(verified.error));
      }
      const report = verified.value;
      terminal.print(json ? JSON.stringify(report) : describeReport(report, paintOf(terminal)));
      end(report.ok ? exitCodes.done : exitCodes.failed);
    });
};

/** A report for people: the journal, its first defect, and notes. */
export function describeReport(report: VerifyReport, paint: Paint): string {
  const { ok, health, sessionId, events, segments, pins, head, defect, notes } = report;
  const lines = [
    ok
      ? paint.good(`✓ ${health}`)
      : paint.bad(`✗ ${health === 'healthy' ? 'not the journal that was expected' : health}`),
    ...(sessionId === undefined ? [] : [`  session   ${sessionId}`]),
    `  events    ${events}${health === 'healthy' ? '' : ' valid, from the start'}`,
    `  segments  ${segments}`,
    `  pins      ${pins}`,
    `  head      ${head}`,
  ];
  if (defect !== undefined) {
    const line = defect.line === undefined ? '' : ` line ${defect.line}`;
    lines.push(
      '',
      paint.bad(`  ${defect.code}`),
      `  where     ${shown(defect.file)}${line}`,
      `  what      ${shown(defect.reason)}`,
      `  meaning   ${shown(defect.meaning)}`,
    );
  }
  if (notes.length > 0) lines.push('', ...notes.map(note => paint.doubtful(`  note      ${shown(note)}`)));
  return lines.join('\n');
}
