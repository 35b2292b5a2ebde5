import type { ErrorEnvelope, Json } from '@signalbox/model';
import { derivePendingStep, NOTES_TEMPLATE, outputTemplate, placeholdersIn } from '@signalbox/workflow';
import { invalidCall } from '../sessions/guided-failures.ts';
import type { Situation } from './place-answer.ts';
import type { CheckpointInput, ContinueInput } from './tool-inputs.ts';

/** Returns the error for a template that was sent back as it is: no placeholder is an answer. */
export function unfilledOutput(
  { compiled, state }: Situation,
  { output = {} }: ContinueInput,
): ErrorEnvelope | undefined {
  const stepId = derivePendingStep(state)?.stepId;
  const step = compiled.steps.find(each => each.stepId === stepId);
  const template = { ...(step ? outputTemplate(compiled, step) : {}), notes: [...NOTES_TEMPLATES] } as Json;
  const [field] = placeholdersIn(output as Json, template, 'output');
  if (field === undefined) return undefined;
  return invalidCall(
    `continue_workflow: ${field} is still a placeholder of the template. Nothing was handed in.`,
    'Do the step, replace every <placeholder> by your own value, one of the choices where it lists some, and send the call again with the same tokens.',
    { field },
  );
}

/** Returns the error for a checkpoint whose notes are the placeholder: they would be shown as what was done. */
export function unfilledCheckpoint({ notesMarkdown = '' }: CheckpointInput): ErrorEnvelope | undefined {
  if (placeholdersIn(notesMarkdown, [...NOTES_TEMPLATES]).length === 0) return undefined;
  return invalidCall(
    'checkpoint_workflow: notesMarkdown is still a placeholder of the template. Nothing was saved.',
    'Write what you did so far, or leave notesMarkdown out, and send the call again with the same token.',
    { field: 'notesMarkdown' },
  );
}

/** Placeholders for notes: of the next call, of a checkpoint and of the descriptions of the tools. */
const NOTES_TEMPLATES = [
  NOTES_TEMPLATE,
  '<what you did in this step, in markdown>',
  '<notes>',
  '<notes to remember>',
  '<notes to remember about the unfinished step>',
];
