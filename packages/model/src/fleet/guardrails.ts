import * as z from 'zod';
import { text } from '../json.ts';
import { name } from './scales.ts';

const guardrailSpec = z.strictObject({
  name,
  description: text,
  /** What happens when it trips. */
  action: z.enum(['block', 'warn', 'log']),
});
export type GuardrailSpec = Readonly<z.infer<typeof guardrailSpec>>;

/** Checks of what an agent gets, of what it produces, and of each tool call. */
export const guardrailPolicy = z.strictObject({
  inputGuardrails: z.array(guardrailSpec).readonly(),
  outputGuardrails: z.array(guardrailSpec).readonly(),
  toolGuardrails: z.array(guardrailSpec).readonly(),
});
export type GuardrailPolicy = Readonly<z.infer<typeof guardrailPolicy>>;
