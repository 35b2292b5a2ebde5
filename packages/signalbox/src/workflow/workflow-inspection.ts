import type { InspectAnswer } from '@signalbox/app/guided';
import { type Paint, shown } from '../terminal.ts';

/** A workflow for people: its purpose, requirements and steps. */
export function describeInspection(answer: InspectAnswer, paint: Paint): string {
  const { workflow, capabilities, recommendations } = answer;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['version', answer.version],
    ['source', answer.sourceKind],
    ['hash', workflow.workflowHash],
    ['autonomy', recommendations.autonomy],
    ['risk', recommendations.riskPolicy],
    ['requires', capabilities.required.join(', ') || undefined],
    ['prefers', capabilities.preferred.join(', ') || undefined],
  ];
  return [
    `${paint.strong(shown(workflow.name))} ${paint.faint(shown(workflow.workflowId))}`,
    ...answer.description.split('\n').map(line => `  ${shown(line)}`),
    '',
    ...facts.flatMap(([name, value]) => (value === undefined ? [] : [`  ${name.padEnd(10)}${shown(value)}`])),
    ...section('Before the start', answer.preconditions),
    ...section('To ask', answer.clarificationPrompts),
    ...section(
      'References',
      answer.references.map(each => `${each.title}: ${each.source}`),
    ),
    ...section(
      'Steps',
      (answer.steps ?? []).map(each => `${'  '.repeat(each.loops.length)}${each.stepId}: ${each.title}`),
    ),
    ...answer.warnings.map(warning => paint.doubtful(`  ! ${shown(warning.message)}`)),
  ].join('\n');
}

function section(heading: string, items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : ['', `  ${heading}`, ...items.map(each => `    ${shown(each)}`)];
}
