import type { KeepAttempt } from '@signalbox/app/host';
import { describeCost } from '../cost.ts';
import { describeDuration } from '../duration.ts';
import { widthOf } from '../live/text-width.ts';
import { shownLines } from '../shown-lines.ts';
import { type Paint, shown } from '../terminal.ts';

const HEADINGS = ['agent', 'files', 'lines', 'check', 'tokens', 'cost', 'time'] as const;
const NOT_REPORTED = 'not reported';

/** How attempts compare: a table, or a line for each fact where the table does not fit. */
export function describeComparison(
  attempts: readonly KeepAttempt[],
  paint: Paint,
  width = Number.POSITIVE_INFINITY,
): readonly string[] {
  const rows = attempts.map(cellsOf);
  const columns = HEADINGS.map((heading, index) =>
    Math.max(widthOf(heading), ...rows.map(row => widthOf(row[index] ?? ''))),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => cell + ' '.repeat((columns[index] ?? 0) - widthOf(cell)))
      .join('  ')
      .trimEnd();
  if (line(columns.map(size => 'x'.repeat(size))).length <= width)
    return [paint.faint(line(HEADINGS)), ...rows.map(line)];
  return rows.flatMap(([name = '', ...facts]) => [
    paint.strong(name),
    ...facts.map((fact, index) => `  ${paint.faint(HEADINGS[index + 1] ?? '')} ${fact}`),
  ]);
}

function cellsOf({
  node,
  error,
  files,
  added,
  removed,
  check,
  tokens,
  costMicroUsd,
  ms,
}: KeepAttempt): readonly string[] {
  const changes = files === 0 ? ['0', 'no changes'] : [String(files), `+${added} -${removed}`];
  return [
    shown(node),
    ...(error === undefined ? changes : ['', 'failed']),
    check === undefined ? 'none' : shown(check.says),
    tokens === undefined ? NOT_REPORTED : tokens.toLocaleString('en'),
    costMicroUsd === undefined ? NOT_REPORTED : describeCost(costMicroUsd),
    ms === undefined ? '' : describeDuration(ms),
  ];
}

/** Lines of a check's output that are shown. */
const TAIL = 20;

/** Why attempts cannot be kept, or should not: errors, and the output of checks that did not pass. */
export function describeFailures(attempts: readonly KeepAttempt[], paint: Paint): readonly string[] {
  return attempts.flatMap(({ node, error, check }) => {
    if (error !== undefined)
      return [paint.bad(`✗ ${shown(node)} failed: ${shown(error.replaceAll(/\s*\n\s*/g, ' '))}`)];
    if (check === undefined || check.passed) return [];
    const lines = shownLines(check.output);
    const left = lines.length - TAIL;
    return [
      paint.bad(`✗ the check of ${shown(node)} ${shown(check.says)}`),
      ...(left > 0 ? [paint.faint(`  … ${left} lines`)] : []),
      ...lines.slice(-TAIL).map(text => `  ${text}`),
    ];
  });
}

/** A diff as lines, in colours. */
export function describeDiff(diff: string, paint: Paint): readonly string[] {
  return shownLines(diff).map(line => {
    if (/^(?:diff |--- |\+\+\+ |# )/.test(line)) return paint.strong(line);
    if (line.startsWith('+')) return paint.good(line);
    if (line.startsWith('-')) return paint.bad(line);
    return line.startsWith('@@') ? paint.faint(line) : line;
  });
}
