import { nodeHasher } from '@signalbox/journal';
import { canonicalJson, type ErrorEnvelope, err, type Json, ok, type Result, utf8Length } from '@signalbox/model';
import {
  answersAt,
  type Correction,
  type Given,
  judgeOutput,
  type NodeOutput,
  type OutputPayload,
  projectGaps,
  type WalkedStep,
} from '@signalbox/workflow';
import { faultOf, invalidCall } from '../sessions/guided-failures.ts';
import type { SessionReader } from '../sessions/session-files.ts';
import type { Situation } from './place-answer.ts';
import type { StepOutputInput } from './tool-inputs.ts';
import { walkedTo } from './walked-steps.ts';

type Asked = NonNullable<StepOutputInput['corrections']>[number];

interface Corrected {
  readonly corrections: readonly Correction[];
  /** Their artifact texts. */
  readonly artifacts: readonly string[];
}

/**
 * The corrections of an attempt to earlier outputs. Each touched step is judged again with its corrected outputs: a correction cannot
 * bypass the step's requirements. Writes nothing.
 */
export function decideCorrections(
  reader: SessionReader,
  situation: Situation,
  asked: readonly Asked[],
  given: Pick<Given, 'context' | 'preferences' | 'capabilities'>,
): Result<Corrected, ErrorEnvelope> {
  if (asked.length === 0) return ok({ corrections: [], artifacts: [] });
  const { events, dag, place } = situation;
  const way = walkedTo(reader, events, dag, place.nodeId);
  if (!way.ok) return way;
  const instead = new Map<string, Correction & { readonly text: string | undefined }>();
  for (const [index, one] of asked.entries()) {
    const at = way.value.find(step => step.given.some(({ outputId }) => outputId === one.outputId));
    const output = at?.given.find(({ outputId }) => outputId === one.outputId);
    if (at === undefined || output === undefined) return err(notOnTheWay(index, one.outputId));
    if (instead.has(one.outputId)) return err(refused(index, 'corrects an output twice', 'Send one correction of it.'));
    const isNotes = output.outputChannel === 'recap';
    if (isNotes !== (one.notesMarkdown !== undefined)) {
      const [is, field] = isNotes ? ['notes', 'notesMarkdown'] : ['an artifact', 'artifact'];
      return err(refused(index, `is of an output that is ${is}`, `Send ${field} for it.`));
    }
    const text = one.artifact === undefined ? undefined : canonicalJson(one.artifact);
    const corrected = { outputId: output.outputId, nodeId: at.nodeId };
    instead.set(one.outputId, { corrected, payload: payloadOf(one, text), text });
  }
  for (const step of way.value) {
    if (!step.given.some(({ outputId }) => instead.has(outputId))) continue;
    const fault = judgeStep(reader, situation, step, asked, given);
    if (fault !== undefined) return err(fault);
  }
  const all = [...instead.values()];
  return ok({
    corrections: all.map(({ corrected, payload }) => ({ corrected, payload })),
    artifacts: all.flatMap(({ text }) => (text === undefined ? [] : [text])),
  });
}

function payloadOf({ notesMarkdown = '' }: Asked, text: string | undefined): OutputPayload {
  if (text === undefined) return { payloadKind: 'notes', notesMarkdown };
  const [sha256, byteLength] = [nodeHasher(text), utf8Length(text)];
  return { payloadKind: 'artifact_ref', sha256, contentType: 'application/json', byteLength };
}

/** Why a step would not have passed with its corrected outputs; undefined if it would. */
function judgeStep(
  reader: SessionReader,
  { place, events, compiled, dag }: Situation,
  { nodeId, key, given: outputs, notes }: WalkedStep,
  asked: readonly Asked[],
  given: Pick<Given, 'context' | 'preferences' | 'capabilities'>,
): ErrorEnvelope | undefined {
  const snapshotRef = dag.nodes.get(nodeId)?.snapshotRef;
  const state = snapshotRef && reader.state(snapshotRef);
  if (state?.ok !== true || state.value.kind !== 'running') return state?.ok === false ? state.error : undefined;
  const of = (output: NodeOutput) => asked.find(({ outputId }) => outputId === output.outputId);
  const artifacts: Json[] = [];
  for (const output of outputs) {
    if (output.payload.payloadKind !== 'artifact_ref') continue;
    const known = of(output)?.artifact;
    const artifact = known === undefined ? reader.artifact(output.payload.sha256) : ok(known);
    if (!artifact.ok) return artifact.error;
    artifacts.push(artifact.value);
  }
  const recap = outputs.find(({ outputChannel }) => outputChannel === 'recap');
  const judged = judgeOutput(compiled, state.value, {
    ...given,
    output: { notes: (recap && of(recap)?.notesMarkdown) ?? notes, artifacts },
    answers: answersAt(projectGaps(events), nodeId),
  });
  if (!judged.ok) return faultOf(place.sessionId, judged.error);
  if (judged.value.kind === 'accepted') return undefined;
  // The person's part was settled when the step passed.
  const [first] = judged.value.report.blockers.filter(({ code }) => code !== 'USER_ONLY_DEPENDENCY');
  if (first === undefined) return undefined;
  return invalidCall(
    `output.corrections: step ${key} would not have been passed with this: ${first.message}`,
    first.suggestedFix ?? 'Send what the step asks for.',
    { field: 'output.corrections', stepInstanceKey: key },
  );
}

function notOnTheWay(index: number, outputId: string) {
  return refused(
    index,
    `is of ${outputId}, which is not an output that stands on the way here`,
    'Take the outputId from "outputs" of the last answer; rehydrate to see them. What was corrected before has a new id.',
  );
}

function refused(index: number, why: string, suggestion: string) {
  const field = `output.corrections.${index}`;
  return invalidCall(`continue_workflow: ${field} ${why}.`, suggestion, { field });
}
