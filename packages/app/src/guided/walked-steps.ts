import type { Digest, Json, NodeId } from '@signalbox/model';
import { err, ok, type Result } from '@signalbox/model';
import {
  type CompiledWorkflowSnapshotV1,
  type DomainEvent,
  type EngineState,
  projectNodeOutputs,
  projectRecovery,
  type Recovery,
  type RunDag,
  type StepInstance,
  type StepOutput,
  wayBack,
} from '@signalbox/workflow';
import type { SessionReader } from './session-files.ts';

type Fault = Extract<ReturnType<SessionReader['state'] | SessionReader['artifact']>, { ok: false }>['error'];

/** What an agent that lost the conversation is told of a place. */
export function recoveryAt(
  reader: SessionReader,
  events: readonly DomainEvent[],
  dag: RunDag,
  compiled: CompiledWorkflowSnapshotV1,
  nodeId: NodeId,
): Result<Recovery, Fault> {
  return withStates(reader, stateOf => ok(projectRecovery(dag, projectNodeOutputs(events), compiled, nodeId, stateOf)));
}

/** The outputs of the turn of a loop that a step stands in, oldest first: all that a loop's control may ask for. */
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

/** Projections take a state that is not at hand for none; here that is a failure. */
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
