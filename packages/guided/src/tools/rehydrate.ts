import type { Digest, ErrorEnvelope, Result } from '@signalbox/model';
import { err } from '@signalbox/model';
import {
  type CompiledWorkflowSnapshotV1,
  derivePendingStep,
  formatStepInstanceKey,
  type PreferenceBaselines,
} from '@signalbox/workflow';
import { invalidCall } from '../sessions/guided-failures.ts';
import type { SessionReader, Tokens } from '../sessions/session-files.ts';
import { placeAnswer, type Situation, situationAt } from './place-answer.ts';
import { placeOfTokens } from './token-places.ts';
import type { StepAnswer, Warning } from './tool-answers.ts';
import type { ContinueInput } from './tool-inputs.ts';

/** Fields that would be lost: a rehydration records nothing. */
const FOR_ADVANCING = ['output', 'context', 'preferences'] as const;

/** Shows a place again, for an agent that lost the conversation. It has only a reader, so it cannot change anything. */
export async function rehydrate(
  reader: SessionReader,
  tokens: Tokens,
  input: ContinueInput,
  baselines: PreferenceBaselines,
  driftOf: (compiled: CompiledWorkflowSnapshotV1, pinned: Digest) => Promise<readonly Warning[]>,
): Promise<Result<StepAnswer, ErrorEnvelope>> {
  const { stateToken, ackToken } = input;
  // An ackToken alone names its place; beside a stateToken it was meant to hand in.
  const lost =
    stateToken !== undefined && ackToken !== undefined
      ? 'ackToken'
      : FOR_ADVANCING.find(field => input[field] !== undefined);
  // Without a token, that it is missing is the first thing to know.
  const isPlaced = stateToken !== undefined || ackToken !== undefined;
  if (isPlaced && lost !== undefined) return err(notRecorded(lost));
  const named = placeOfTokens(reader, tokens, input);
  if (!named.ok) return named;
  const { place, view } = named.value;
  const situation = situationAt(reader, view.events(), place, baselines);
  if (!situation.ok) return situation;
  const { compiled, node } = situation.value;
  const drift = await driftOf(compiled, node.data.workflowHash);
  const told = [...leftBehind(reader, tokens, situation.value), ...drift];
  return placeAnswer(reader, tokens, situation.value, { kind: 'recovered', told, outputIds: input.outputIds });
}

/** For a place that the run has left: handing in from here makes a branch, and the run's tip is elsewhere. */
function leftBehind(
  reader: SessionReader,
  tokens: Tokens,
  { place, dag, node, compiled }: Situation,
): readonly Warning[] {
  const tip = dag.preferredTip;
  const isLeft = dag.edges.some(edge => edge.edgeKind === 'acked_step' && edge.fromNodeId === place.nodeId);
  if (tip === undefined || tip.nodeId === place.nodeId || !isLeft) return [];
  const snapshotRef = dag.nodes.get(tip.nodeId)?.snapshotRef;
  const state = snapshotRef === undefined ? undefined : reader.state(snapshotRef);
  const pending = state?.ok === true ? derivePendingStep(state.value) : undefined;
  const at = pending === undefined ? 'its end' : `step ${formatStepInstanceKey(pending)}`;
  const { workflowHash } = node.data;
  const stateToken = tokens.mint({ tokenKind: 'state', ...place, nodeId: tip.nodeId, workflowHash });
  return [
    {
      code: 'not_the_tip',
      message: `This place was left before: handing in from here begins another branch. The tip of ${compiled.workflowId} is at ${at}; its stateToken is ${stateToken}`,
    },
  ];
}

function notRecorded(field: string) {
  return invalidCall(
    `continue_workflow: ${field} was sent with a rehydrate, which records nothing.`,
    `Leave out ${field} to see the step again; to hand in the step, send intent "advance" with the ackToken.`,
    { field },
  );
}
