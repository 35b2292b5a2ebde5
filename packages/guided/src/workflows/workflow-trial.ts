import { type ErrorEnvelope, json, jsonObject, ok, type Result } from '@signalbox/model';
import * as z from 'zod';
import type { GuidedTools } from '../tools/guided-tools.ts';
import type { StepAnswer } from '../tools/tool-answers.ts';

/** What a scripted agent says at each step, in the order that is expected. */
export const trialScript = z.strictObject({
  context: jsonObject.optional(),
  steps: z.array(
    z.strictObject({
      /** The step instance that must be pending: `loop@0::step` in a loop. */
      step: z.string(),
      notes: z.string().optional(),
      artifacts: z.array(json).optional(),
      context: jsonObject.optional(),
      /** Whether the step must refuse this. */
      blocked: z.boolean().optional(),
    }),
  ),
});
type TrialScript = Readonly<z.infer<typeof trialScript>>;

interface TrialStep {
  readonly step: string;
  readonly prompt: string;
}

interface Trial {
  readonly steps: readonly TrialStep[];
  /** What did not go as the script says; undefined if all did. */
  readonly fault?: string;
}

/** Walks a workflow with scripted answers: every prompt, and the first place where order or outcome differ. */
export async function tryWorkflow(
  tools: GuidedTools,
  workflowId: string,
  script: TrialScript,
): Promise<Result<Trial, ErrorEnvelope>> {
  const steps: TrialStep[] = [];
  const started = await tools.start({ workflowId, context: script.context, preferences: STOPPING }, 'person');
  if (!started.ok) return started;
  let at: StepAnswer = started.value;
  for (const [index, said] of script.steps.entries()) {
    const key = at.pending?.stepInstanceKey ?? 'complete';
    if (at.pending !== null) steps.push({ step: key, prompt: at.pending.prompt });
    if (key !== said.step)
      return ok({ steps, fault: `Answer ${index + 1} is for ${said.step}; the workflow is at ${key}.` });
    const output = { notesMarkdown: said.notes, artifacts: said.artifacts };
    const { stateToken, ackToken } = at;
    const next = await tools.continue({ stateToken, ackToken, output, context: said.context });
    if (!next.ok) return ok({ steps, fault: `${key}: ${next.error.message}` });
    const isBlocked = next.value.kind === 'blocked';
    if (isBlocked !== (said.blocked ?? false)) {
      const why = next.value.blockers.map(({ message }) => message).join(' ');
      return ok({ steps, fault: isBlocked ? `${key} is blocked: ${why}` : `${key} passes, and should be blocked.` });
    }
    const fresh = isBlocked ? await tools.continue({ stateToken }) : next;
    if (!fresh.ok) return fresh;
    at = fresh.value;
  }
  if (at.isComplete) return ok({ steps });
  return ok({ steps, fault: `The answers end at ${at.pending?.stepInstanceKey}; the workflow goes on.` });
}

/** Stops where a person is needed, and confirms nothing in their name. */
const STOPPING = { autonomy: 'full_auto_stop_on_user_deps' } as const;
