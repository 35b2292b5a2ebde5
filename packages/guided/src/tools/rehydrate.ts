import type { Digest, ErrorEnvelope, Result } from '@signalbox/model';
import { err } from '@signalbox/model';
import type { CompiledWorkflowSnapshotV1, PreferenceBaselines } from '@signalbox/workflow';
import { invalidCall } from '../sessions/guided-failures.ts';
import type { SessionReader, Tokens } from '../sessions/session-files.ts';
import { placeAnswer, situationAt } from './place-answer.ts';
import { placeOfTokens } from './token-places.ts';
import type { StepAnswer, Warning } from './tool-answers.ts';
import type { ContinueInput } from './tool-inputs.ts';

/** Fields that would be lost: a rehydration records nothing. */
const FOR_ADVANCING = ['ackToken', 'output', 'context', 'preferences'] as const;

/** Shows a place again, for an agent that lost the conversation. It has only a reader, so it cannot change anything. */
export async function rehydrate(
  reader: SessionReader,
  tokens: Tokens,
  input: ContinueInput,
  baselines: PreferenceBaselines,
  driftOf: (compiled: CompiledWorkflowSnapshotV1, pinned: Digest) => Promise<readonly Warning[]>,
): Promise<Result<StepAnswer, ErrorEnvelope>> {
  const lost = FOR_ADVANCING.find(field => input[field] !== undefined);
  if (lost !== undefined) return err(notRecorded(lost));
  const named = placeOfTokens(reader, tokens, input);
  if (!named.ok) return named;
  const { place, view } = named.value;
  const situation = situationAt(reader, view.events(), place, baselines);
  if (!situation.ok) return situation;
  const told = await driftOf(situation.value.compiled, situation.value.node.data.workflowHash);
  return placeAnswer(reader, tokens, situation.value, { kind: 'recovered', told, outputIds: input.outputIds });
}

function notRecorded(field: string) {
  return invalidCall(
    `continue_workflow: ${field} was sent with a rehydrate, which records nothing.`,
    `Leave out ${field} to see the step again; to hand in the step, send intent "advance" with the ackToken.`,
    { field },
  );
}
