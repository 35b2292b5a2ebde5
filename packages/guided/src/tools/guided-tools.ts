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
 * The use-cases of guided workflows, as an agent calls them. An expected failure is an error envelope, never an exception; failures of
 * tokens, or of a locked session, have a `TOKEN_*` code. Each function validates its input by its schema below, and answers
 * `VALIDATION_ERROR` if that fails.
 */
export interface GuidedTools {
  list(input: ListInput): Answer<ListAnswer>;
  inspect(input: InspectInput): Answer<InspectAnswer>;
  /** Only a person who starts a session for an agent may loosen its preferences. */
  start(input: StartInput, by?: Starter): Answer<StepAnswer>;
  continue(input: ContinueInput): Answer<StepAnswer>;
  checkpoint(input: CheckpointInput): Answer<CheckpointAnswer>;
  resume(input: ResumeInput): Answer<ResumeAnswer>;
}

/** Defaults to an agent. */
export type Starter = 'agent' | 'person';

/** The schemas of every function, by its name in the port, with its tool name. */
export const guidedSchemas = {
  list: { tool: 'list_workflows', input: listInput, answer: listAnswer },
  inspect: { tool: 'inspect_workflow', input: inspectInput, answer: inspectAnswer },
  start: { tool: 'start_workflow', input: startInput, answer: stepAnswer },
  continue: { tool: 'continue_workflow', input: continueInput, answer: stepAnswer },
  checkpoint: { tool: 'checkpoint_workflow', input: checkpointInput, answer: checkpointAnswer },
  resume: { tool: 'resume_session', input: resumeInput, answer: resumeAnswer },
} as const satisfies Readonly<Record<keyof GuidedTools, { tool: string; input: z.ZodType; answer: z.ZodType }>>;
