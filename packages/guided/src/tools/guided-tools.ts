import type { ErrorEnvelope, Result } from '@signalbox/model';
import type * as z from 'zod';
import {
  type CheckpointAnswer,
  checkpointAnswer,
  type InspectAnswer,
  inspectAnswer,
  type ListAnswer,
  listAnswer,
  type ResumeAnswer,
  resumeAnswer,
  type StepAnswer,
  stepAnswer,
} from './tool-answers.ts';
import {
  type CheckpointInput,
  type ContinueInput,
  checkpointInput,
  continueInput,
  type InspectInput,
  inspectInput,
  type ListInput,
  listInput,
  type ResumeInput,
  resumeInput,
  type StartInput,
  startInput,
} from './tool-inputs.ts';

type Answer<T> = Promise<Result<T, ErrorEnvelope>>;

/**
 * The use-cases of guided workflows, as an agent calls them. An expected failure is an error envelope and never a throw;
 * what concerns tokens, or a session that is being written, is a `TOKEN_*` code. Each function checks what it is given by
 * its schema below, and answers with `VALIDATION_ERROR` where that does not fit.
 */
export interface GuidedTools {
  list(input: ListInput): Answer<ListAnswer>;
  inspect(input: InspectInput): Answer<InspectAnswer>;
  /** Only a person who starts a session for an agent may loosen the preferences that hold otherwise. */
  start(input: StartInput, by?: Starter): Answer<StepAnswer>;
  continue(input: ContinueInput): Answer<StepAnswer>;
  checkpoint(input: CheckpointInput): Answer<CheckpointAnswer>;
  resume(input: ResumeInput): Answer<ResumeAnswer>;
}

/** An agent unless it is said. */
export type Starter = 'agent' | 'person';

/** The schemas of every function, by its name in the port, with the name that agents know the tool by. */
export const guidedSchemas = {
  list: { tool: 'list_workflows', input: listInput, answer: listAnswer },
  inspect: { tool: 'inspect_workflow', input: inspectInput, answer: inspectAnswer },
  start: { tool: 'start_workflow', input: startInput, answer: stepAnswer },
  continue: { tool: 'continue_workflow', input: continueInput, answer: stepAnswer },
  checkpoint: { tool: 'checkpoint_workflow', input: checkpointInput, answer: checkpointAnswer },
  resume: { tool: 'resume_session', input: resumeInput, answer: resumeAnswer },
} as const satisfies Readonly<Record<keyof GuidedTools, { tool: string; input: z.ZodType; answer: z.ZodType }>>;
