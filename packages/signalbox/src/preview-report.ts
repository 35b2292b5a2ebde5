import type { PlanPreview } from '@signalbox/app/host';
import { describeTree } from './run-tree.ts';
import { type Paint, shown } from './terminal.ts';

/** A plan's first steps, and warnings for its author. */
export function describePreview({ tree, starts, effects, warnings }: PlanPreview, paint: Paint): string {
  const lines = [...describeTree(tree, paint), ''];
  lines.push(starts.length === 0 ? 'Nothing would start.' : `Would start first: ${starts.map(shown).join(', ')}`);
  if (effects.length > 0) lines.push(`Effects that would run: ${effects.map(shown).join(', ')}`);
  for (const { severity, message, source } of warnings) {
    const where = source === undefined ? '' : paint.faint(` ${shown(source.file)}:${source.line}`);
    lines.push(`${severity === 'warning' ? paint.doubtful('!') : paint.faint('i')} ${shown(message)}${where}`);
  }
  return lines.join('\n');
}
