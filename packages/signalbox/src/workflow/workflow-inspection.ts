import type { HashInput, InspectAnswer } from '@signalbox/app/guided';
import { type Paint, shown } from '../terminal.ts';

/** A workflow for people: its purpose, requirements and steps, and what its hash covers. */
export function describeInspection(answer: InspectAnswer, hashed: readonly HashInput[], paint: Paint): string {
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
    ...section(
      'In the hash, with its bytes; not in it: tokens, ids of sessions, times, the context',
      hashed.map(({ part, what, bytes }) => `${String(bytes).padStart(6)}  ${part.padEnd(20)}  ${excerpt(what)}`),
    ),
    ...answer.warnings.map(warning => paint.doubtful(`  ! ${shown(warning.message)}`)),
  ].join('\n');
}

const excerpt = (text: string) => (text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text);
const MOST_CHARACTERS = 80;

function section(heading: string, items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : ['', `  ${heading}`, ...items.map(each => `    ${shown(each)}`)];
}
