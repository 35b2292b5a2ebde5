import type { ReplayVerdict, RunReplay } from '@signalbox/app/host';
import { type Paint, shown } from '../terminal.ts';

type Marks = Pick<Paint, 'good' | 'bad' | 'doubtful'>;

/** The verdict of a verifying replay, for people. */
export function describeVerdict({ ok, runs }: ReplayVerdict, paint: Marks): string {
  const frames = runs.reduce((sum, run) => sum + run.frames, 0);
  if (ok) return [paint.good(`✓ ${frames} frames reproduced`), ...runs.map(lineOf)].join('\n');
  const difference = runs.find(run => run.difference !== undefined);
  const title = difference === undefined ? '✗ not every frame can be verified' : '✗ a frame differs';
  return [paint.bad(title), ...runs.map(lineOf), ...runs.flatMap(run => describeDifference(run, paint))].join('\n');
}

function lineOf({ run, name, frames, verified, unverified, unrecorded = [], collectedFrom }: RunReplay): string {
  const rest =
    unverified.length === 0
      ? ''
      : `, ${unverified.length} read values that were not recorded (first: ${[`${unverified[0]}`, ...unrecorded].map(shown).join(', ')})`;
  const gone =
    collectedFrom === undefined ? '' : `; frame ${collectedFrom} was collected, so later frames cannot be reproduced`;
  return `  ${run}  ${shown(name)}  ${verified} of ${frames} frames verified${rest}${gone}`;
}

function describeDifference({ run, difference }: RunReplay, paint: Marks): readonly string[] {
  if (difference === undefined) return [];
  const { frame, what, recorded, replayed, rows, source } = difference;
  return [
    '',
    paint.bad(`  frame ${frame} of run ${run}: ${shown(what)}`),
    ...(source === undefined ? [] : [`  where     ${shown(source.file)}:${source.line}:${source.column}`]),
    `  recorded  ${recorded}`,
    ...(replayed === undefined ? [] : [`  now       ${replayed}`]),
    ...rows.flatMap(row => [
      '',
      `  ${row.space} ${shown(row.key)}${row.writtenBy === undefined ? '' : `, written by ${shown(row.writtenBy)}`}`,
      ...(row.source === undefined
        ? []
        : [`    where     ${shown(row.source.file)}:${row.source.line}:${row.source.column}`]),
      `    recorded  ${valueText(row.recorded)}`,
      `    now       ${valueText(row.replayed)}`,
    ]),
  ];
}

const MAX_TEXT = 400;

function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? '–';
  return shown(text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);
}
