import { type Digest, err, type Json, type NodeId, ok, type Result, truncateUtf8 } from '@signalbox/model';
import {
  type CompiledWorkflowSnapshotV1,
  type DomainEvent,
  type EngineState,
  type OutputPayload,
  projectNodeOutputs,
  projectRecovery,
  type Recovery,
  type RunDag,
  type StepInstance,
  type StepOutput,
  type WalkedStep,
  wayBack,
} from '@signalbox/workflow';
import type { SessionReader } from '../sessions/session-files.ts';
import type { StepAnswer } from './tool-answers.ts';

type Fault = Extract<ReturnType<SessionReader['state'] | SessionReader['artifact']>, { ok: false }>['error'];

/** The recovery text of a place, for an agent that lost the conversation. */
export function recoveryAt(
  reader: SessionReader,
  events: readonly DomainEvent[],
  dag: RunDag,
  compiled: CompiledWorkflowSnapshotV1,
  nodeId: NodeId,
): Result<Recovery, Fault> {
  return withStates(reader, stateOf => ok(projectRecovery(dag, projectNodeOutputs(events), compiled, nodeId, stateOf)));
}

/** The outputs of the current iteration of a step's loop, oldest first: everything that a loop's control may ask for. */
export function outputsOfTurn(
  reader: SessionReader,
  events: readonly DomainEvent[],
  dag: RunDag,
  nodeId: NodeId,
  pending: StepInstance,
): Result<readonly StepOutput[], Fault> {
  const [turn] = pending.loopPath;
  if (turn === undefined) return ok([]);
  return withStates(reader, stateOf => {
    const outputs: StepOutput[] = [];
    for (const { step, artifacts: refs } of wayBack(dag, projectNodeOutputs(events), nodeId, stateOf)) {
      const outer = step.loopPath[0];
      if (outer?.loopId !== turn.loopId || outer.iteration !== turn.iteration) break;
      const artifacts: Json[] = [];
      for (const { payload } of refs) {
        if (payload.payloadKind !== 'artifact_ref') continue;
        const artifact = reader.artifact(payload.sha256);
        if (!artifact.ok) return artifact;
        artifacts.push(artifact.value);
      }
      outputs.push({ step, artifacts });
    }
    return ok(outputs.toReversed());
  });
}

/** The latest outputs on the way to a place, newest last, for an answer. */
export function lastHandedIn(
  reader: SessionReader,
  events: readonly DomainEvent[],
  dag: RunDag,
  nodeId: NodeId,
): Result<NonNullable<StepAnswer['outputs']>, Fault> {
  return withStates(reader, stateOf => {
    const outputs: NonNullable<StepAnswer['outputs']> = [];
    for (const { key, given } of wayBack(dag, projectNodeOutputs(events), nodeId, stateOf)) {
      for (const { outputId, outputChannel, payload } of given.toReversed()) {
        outputs.push({ outputId, stepInstanceKey: key, outputChannel, excerpt: excerptOf(payload) });
      }
      if (outputs.length >= MAX_OUTPUTS) break;
    }
    return ok(outputs.slice(0, MAX_OUTPUTS).toReversed());
  });
}

/** How many outputs one answer lists, and the bytes of one excerpt. */
const MAX_OUTPUTS = 10;
const EXCERPT_BYTES = 120;

function excerptOf(payload: OutputPayload): string {
  if (payload.payloadKind === 'artifact_ref') return payload.sha256;
  return truncateUtf8(payload.notesMarkdown.trimStart().split('\n', 1)[0] ?? '', EXCERPT_BYTES);
}

/** Every step on the way to a place, newest first. */
export function walkedTo(
  reader: SessionReader,
  events: readonly DomainEvent[],
  dag: RunDag,
  nodeId: NodeId,
): Result<readonly WalkedStep[], Fault> {
  return withStates(reader, stateOf => ok([...wayBack(dag, projectNodeOutputs(events), nodeId, stateOf)]));
}

/** Projections treat an unavailable state as absent; here it is a failure. */
function withStates<T>(
  reader: SessionReader,
  project: (stateOf: (ref: Digest) => EngineState | undefined) => Result<T, Fault>,
): Result<T, Fault> {
  let fault: Fault | undefined;
  const projected = project(ref => {
    const state = reader.state(ref);
    if (state.ok) return state.value;
    fault ??= state.error;
    return undefined;
  });
  return fault === undefined ? projected : err(fault);
}
