import {
  canonicalJson,
  type Digest,
  defined,
  err,
  type Json,
  type NodeId,
  ok,
  type Result,
  truncateUtf8,
} from '@signalbox/model';
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
  return withStates(reader, stateOf =>
    ok(projectRecovery(dag, projectNodeOutputs(events), compiled, nodeId, stateOf, textOf(reader))),
  );
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

type HandedIn = NonNullable<StepAnswer['outputs']>[number];

/**
 * The latest outputs on the way to a place, newest last, for an answer. With ids, those outputs instead, whole; the first id that names
 * none of them is returned.
 */
export function lastHandedIn(
  reader: SessionReader,
  events: readonly DomainEvent[],
  dag: RunDag,
  nodeId: NodeId,
  wanted?: readonly string[],
): Result<readonly HandedIn[] | { readonly unknown: string }, Fault> {
  return withStates<readonly HandedIn[] | { readonly unknown: string }>(reader, stateOf => {
    const outputs: HandedIn[] = [];
    for (const { key, given } of wayBack(dag, projectNodeOutputs(events), nodeId, stateOf)) {
      for (const { outputId, outputChannel, payload } of given.toReversed()) {
        if (wanted !== undefined && !wanted.includes(outputId)) continue;
        const content = wanted === undefined ? ok(undefined) : contentOf(reader, payload);
        if (!content.ok) return content;
        const excerpt = excerptOf(payload, textOf(reader));
        outputs.push({
          outputId,
          stepInstanceKey: key,
          outputChannel,
          excerpt,
          ...defined({ content: content.value }),
        });
      }
      if (wanted === undefined && outputs.length >= MAX_OUTPUTS) break;
    }
    const unknown = wanted?.find(id => outputs.every(({ outputId }) => outputId !== id));
    if (unknown !== undefined) return ok({ unknown });
    return ok(outputs.slice(0, wanted?.length ?? MAX_OUTPUTS).toReversed());
  });
}

function contentOf(reader: SessionReader, payload: OutputPayload): Result<Json, Fault> {
  return payload.payloadKind === 'notes' ? ok(payload.notesMarkdown) : reader.artifact(payload.sha256);
}

/** Artifacts as canonical text; undefined for one that cannot be read. */
function textOf(reader: SessionReader) {
  return (sha256: Digest): string | undefined => {
    const artifact = reader.artifact(sha256);
    return artifact.ok ? canonicalJson(artifact.value) : undefined;
  };
}

/** What the last step with artifacts handed in, for an agent that looks for its run. */
export function lastArtifacts(
  reader: SessionReader,
  events: readonly DomainEvent[],
  dag: RunDag,
  nodeId: NodeId,
): Result<readonly string[], Fault> {
  return withStates(reader, stateOf => {
    for (const { artifacts } of wayBack(dag, projectNodeOutputs(events), nodeId, stateOf)) {
      const texts = artifacts.map(({ payload }) => excerptOf(payload, textOf(reader), FOUND_BYTES / artifacts.length));
      if (texts.length > 0) return ok(texts);
    }
    return ok([]);
  });
}

/** The bytes of the artifacts of one run that was found. */
const FOUND_BYTES = 2_048;

/** How many outputs one answer lists, and the bytes of one excerpt. */
const MAX_OUTPUTS = 10;
const EXCERPT_BYTES = 120;

function excerptOf(
  payload: OutputPayload,
  artifactOf: (sha256: Digest) => string | undefined,
  bytes = EXCERPT_BYTES,
): string {
  if (payload.payloadKind === 'artifact_ref') {
    return truncateUtf8(artifactOf(payload.sha256) ?? payload.sha256, Math.floor(bytes));
  }
  return truncateUtf8(payload.notesMarkdown.trimStart().split('\n', 1)[0] ?? '', bytes);
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
