import { defined, type Json, json, jsonObject, type Resolution, text } from '@signalbox/model';
import type { HumanNode, TaskOutcome } from '@signalbox/plan';
import type { DecisionKind } from '@signalbox/runs';
import * as z from 'zod';

/** What a `Human` node shows. */
export const humanProposal = z.strictObject({
  prompt: text,
  options: z
    .array(z.strictObject({ id: text, label: text.optional() }))
    .readonly()
    .optional(),
  /** A JSON Schema of the requested value. */
  schema: jsonObject.optional(),
  context: json.optional(),
});
export type HumanProposal = z.infer<typeof humanProposal>;

export function proposalOf({ prompt, options, schema, context }: HumanNode['data']): HumanProposal {
  return {
    prompt,
    ...defined({ options, schema, context }),
  };
}

export function kindOf({ options, schema }: HumanProposal): DecisionKind {
  if (options !== undefined) return 'choice';
  return schema === undefined ? 'confirmation' : 'human';
}

/**
 * The outcome of an answer for the node: the id of the chosen option, the requested value, or whether it was approved. If a value was
 * requested, a denial is a failure.
 */
export function outcomeOf(proposal: HumanProposal, resolution: Resolution): TaskOutcome {
  const { resolutionType, chosenOptionId, value = null, rationale } = resolution;
  const isDenied = resolutionType === 'reject';
  if (proposal.options === undefined && proposal.schema === undefined) {
    return { kind: 'done', output: { approved: !isDenied, rationale } };
  }
  if (isDenied) {
    const why = rationale === '' ? '' : `: ${rationale}`;
    return { kind: 'failed', error: { class: 'terminal', code: 'denied', message: `A person denied it${why}` } };
  }
  const output: Json = proposal.options === undefined ? value : (chosenOptionId ?? null);
  return { kind: 'done', output };
}
