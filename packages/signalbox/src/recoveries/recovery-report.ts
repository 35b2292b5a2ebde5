import type { RecoveryNote } from '@signalbox/app/host';
import { shownPath } from '../forks/changed-paths.ts';
import { type Paint, paintOf, shown, type Terminal } from '../terminal.ts';

/** Reports on the terminal how this start recovered interrupted calls. */
export function tellRecovered(terminal: Terminal, recovered: readonly RecoveryNote[]): void {
  const paint = paintOf(terminal);
  for (const note of recovered) terminal.complain(describeRecovery(note, paint));
}

/** A call with its run, outcome and paths. */
export function describeRecovery({ id, tool, run, node, outcome, message, paths }: RecoveryNote, paint: Paint): string {
  const mark = outcome === 'failed' ? paint.bad('✗') : paint.doubtful('!');
  const whose = run === undefined ? '' : ` of run ${run}${node === undefined ? '' : `, node ${shown(node)}`}`;
  return [
    `${mark} ${shown(tool)} ${shown(id)}${whose}: ${shown(message)}`,
    ...paths.map(({ what, paths: named, more }) => {
      const rest = more === 0 ? '' : ` and ${more} more`;
      return `  ${words(what)}: ${named.map(shownPath).join(', ')}${rest}`;
    }),
    ...(run !== undefined && paths.some(({ what }) => what === 'kept')
      ? [`  restore kept files: signalbox undo ${run} ${shown(id)} --kept`]
      : []),
  ].join('\n');
}

/** `leftAlone` becomes "left alone". */
function words(name: string): string {
  return shown(name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase());
}
