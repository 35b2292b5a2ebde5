import type { CompiledStep, CompiledWorkflowSnapshotV1 } from './compiled-workflow.ts';
import type { ValidationExpression } from './validation.ts';

/** A routine as one text that can be followed without the tools of guided workflows. */
export function routineText({
  name,
  description,
  steps,
}: Pick<CompiledWorkflowSnapshotV1, 'name' | 'description' | 'steps'>): string {
  return [
    `# ${name}`,
    description,
    ...steps.map((step, index) => stepText(step, index + 1)),
    'Return what each step produced, in this order.',
  ].join('\n\n');
}

function stepText({ title, prompt, fragments, guidance, validation }: CompiledStep, number: number): string {
  const shown = validation === undefined ? [] : messagesOf(validation);
  return [
    `# Step ${number}: ${title}`,
    prompt,
    ...fragments.map(({ text }) => text),
    ...bullets(guidance),
    ...(shown.length === 0 ? [] : [`Must be shown:\n${shown.map(text => `- ${text}`).join('\n')}`]),
  ]
    .filter(text => text !== '')
    .join('\n\n');
}

function bullets(texts: readonly string[]): readonly string[] {
  return texts.length === 0 ? [] : [texts.map(text => `- ${text}`).join('\n')];
}

function messagesOf(expression: ValidationExpression): readonly string[] {
  switch (expression.kind) {
    case 'rule':
      return expression.message === '' ? [] : [expression.message];
    case 'not':
      return [];
    default:
      return expression.of.flatMap(messagesOf);
  }
}
