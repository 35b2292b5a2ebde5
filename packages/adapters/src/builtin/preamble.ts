import type { Assignment } from '@signalbox/runs';
import type { AnswerForm } from './final-answer.ts';

/** The system text of every agent, before the author's own. */
export function systemPrompt(assignment: Assignment, tools: readonly string[], form: AnswerForm): string {
  const parts = [
    'You work on one task of a run, on your own: nobody reads along, and nobody answers questions. Do the whole task, then answer.',
    tools.length === 0
      ? 'You have no tools: answer from what you are given.'
      : [
          `Your working directory is ${assignment.directory}. Paths are relative to it, and nothing outside of it is yours.`,
          `Your tools: ${tools.join(', ')}. A call that fails has been undone and left nothing behind. Some calls wait until a person allows them; a call that a person denies is not to be tried again in another way.`,
          'Look before you change something, and check what you changed.',
        ].join('\n'),
    answerAdvice(form),
  ];
  if (assignment.system !== undefined && assignment.system.trim() !== '') parts.push(assignment.system);
  return parts.join('\n\n');
}

function answerAdvice(form: AnswerForm): string {
  switch (form.kind) {
    case 'text':
      return 'Your last message, the one without a tool call, is the result that is handed on. Say in it what was asked for, and be honest about what you could not do.';
    case 'format':
      return 'Your answer is handed on as data: give nothing but JSON that fits the schema.';
    case 'tool':
      return `When everything is done, give the result by calling ${form.tool.name}. It is handed on as data.`;
  }
}
