import {
  compareRuns,
  type ErrorEnvelope,
  findRun,
  type Json,
  type Reader,
  type RunComparison,
} from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { type Paint, paintOf, shown } from '../terminal.ts';
import { withReader } from '../with-reader.ts';

export const defineCompare: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Compares two runs: plan, input, state, output, files, time, cost, decisions, and the frame at which they part. A fork is compared ' +
        'with its parent from the frame that it was forked from.',
    )
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the comparison as JSON')
    .addHelpText('after', '\nExample:\n  $ signalbox compare 019b8d62 @last')
    .action(async (a: string, b: string, flags: DataFlags) => {
      const compare = async (reader: Reader): Promise<ExitCode | ErrorEnvelope> => {
        const [one, other] = [await findRun(reader, a), await findRun(reader, b)];
        if (!one.ok) return one.error;
        if (!other.ok) return other.error;
        const dataDirectory = askedDataDirectory(flags.dataDir);
        const ports = { reader, contents: reader, dataDirectory, now: Date.now };
        const compared = await compareRuns(ports, one.value.id, other.value.id);
        if (!compared.ok) return compared.error;
        if (flags.json === true) terminal.print(JSON.stringify(compared.value));
        else for (const line of report(compared.value, paintOf(terminal))) terminal.print(line);
        return exitCodes.done;
      };
      end(await withReader(terminal, flags, compare));
    });
};

const relations: Readonly<Record<RunComparison['relation']['kind'], string>> = {
  same: 'The same run',
  fork: 'A run and its fork',
  siblings: 'Two forks of one run',
  'same-plan': 'Two runs of one plan',
  'other-plans': 'Runs of different plans',
};

function report(compared: RunComparison, { strong, faint }: Paint): readonly string[] {
  const { a, b, relation, plan, input, output, state, files, filesUnknown, nodes, decisions, frames } = compared;
  const part = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : ['', strong(title), ...lines]);
  const values = (pairs: RunComparison['input']) =>
    pairs.map(({ key, a: old, b: now }) => `  ${shown(key)}: ${brief(old)} → ${brief(now)}`);
  return [
    `${strong('A')} ${shown(a.name)}  ${faint(a.run)}`,
    `${strong('B')} ${shown(b.name)}  ${faint(b.run)}`,
    relations[relation.kind] + (relation.frame === undefined ? '.' : `, at frame ${relation.frame}.`),
    '',
    ...row('', 'A', 'B'),
    ...row('status', a.status, b.status),
    ...row('time', seconds(a.ms), seconds(b.ms)),
    ...row('frames', a.frames, b.frames),
    ...row('cost', dollars(a.costMicroUsd), dollars(b.costMicroUsd)),
    ...row('tokens', a.tokens, b.tokens),
    ...row('tool calls', a.toolCalls, b.toolCalls),
    ...part('Where they part', [partWords(frames)]),
    ...part(
      'Plan',
      plan.files.map(({ path, change }) => `  ${change}: ${shown(path)}`),
    ),
    ...part('Input', values(input)),
    ...part('State', values(state)),
    ...part('Output', values(output)),
    ...part(
      'Files',
      files.map(
        ({ path, a: old = '–', b: now = '–', same }) => `  ${shown(path)}: ${old} / ${now}${same ? ', alike' : ''}`,
      ),
    ),
    ...part('Files that are not known', filesUnknown === undefined ? [] : [`  ${shown(filesUnknown)}`]),
    ...part(
      'Decisions',
      decisions.map(({ node, a: old, b: now }) => `  ${shown(node)}: ${answer(old)} → ${answer(now)}`),
    ),
    ...part(
      'Work',
      nodes.map(({ label, a: old, b: now }) => `  ${shown(label)}: ${work(old)} → ${work(now)}`),
    ),
  ];
}

function partWords({ partAt, same }: RunComparison['frames']): string {
  if (partAt === undefined) return `  Nowhere: all ${same} frames are the same.`;
  return `  At frame ${partAt.a} of A and frame ${partAt.b} of B, after ${same} frames that are the same.`;
}

const WIDTH = 12;
function row(name: string, a: string | number, b: string | number): readonly string[] {
  return [`  ${name.padEnd(WIDTH)}${String(a).padEnd(WIDTH)}${b}`];
}

const MOST = 60;
function brief(value: Json | undefined): string {
  const text = value === undefined ? '–' : JSON.stringify(value);
  return shown(text.length > MOST ? `${text.slice(0, MOST)}…` : text);
}

function answer(given: RunComparison['decisions'][number]['a']): string {
  return given === undefined ? '–' : shown(given.answer ?? given.status);
}

function work(given: RunComparison['nodes'][number]['a']): string {
  if (given === undefined) return '–';
  const { status, ms, attempts } = given;
  return `${status} in ${seconds(ms)}${attempts > 1 ? `, ${attempts} attempts` : ''}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function dollars(microUsd: number): string {
  return `$${(microUsd / 1e6).toFixed(4)}`;
}
