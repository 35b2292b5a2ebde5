import { type NodeId, ok, type Result, truncateUtf8 } from '@signalbox/model';
import { budgets } from './bounded-text.ts';
import type { EventFacts } from './domain-event.ts';
import { type OutputPayload, outputPayload } from './event-data.ts';
import type { Place } from './event-draft.ts';
import { type AttemptId, guidedId, type OutputId } from './ids.ts';
import { checkInput, type InvalidInput } from './invalid-input.ts';

/** A stored artifact, by name. */
export type ArtifactRef = Omit<Extract<OutputPayload, { payloadKind: 'artifact_ref' }>, 'payloadKind'>;

/** The notes of an attempt, cut to their budget. */
export function recapFacts(
  place: Place,
  attemptId: AttemptId,
  notesMarkdown: string | undefined,
): Result<readonly EventFacts[], InvalidInput> {
  if (notesMarkdown === undefined) return ok([]);
  const notes = { payloadKind: 'notes', notesMarkdown: truncateUtf8(notesMarkdown, budgets.notesMarkdown) };
  const payload = checkInput(outputPayload, notes, 'output');
  return payload.ok ? ok([outputFact(place, attemptId, ['recap'], payload.value)]) : payload;
}

/** The artifacts of an attempt, each once, ordered by digest and type. */
export function artifactFacts(
  place: Place,
  attemptId: AttemptId,
  artifacts: readonly ArtifactRef[],
): Result<readonly EventFacts[], InvalidInput> {
  const named = new Map(artifacts.map(artifact => [`${artifact.sha256}\0${artifact.contentType}`, artifact]));
  const facts: EventFacts[] = [];
  for (const [, artifact] of [...named].sort(([left], [right]) => (left < right ? -1 : 1))) {
    const payload = checkInput(outputPayload, { ...artifact, payloadKind: 'artifact_ref' }, 'artifact');
    if (!payload.ok) return payload;
    facts.push(outputFact(place, attemptId, ['artifact', artifact.sha256, artifact.contentType], payload.value));
  }
  return ok(facts);
}

/** A correction of earlier output: the original stays, and the correction counts. */
export interface Correction {
  readonly corrected: { readonly outputId: OutputId; readonly nodeId: NodeId };
  readonly payload: OutputPayload;
}

/** Corrections at the nodes of the corrected output, notes before artifacts, each sorted by id. */
export function correctionFacts(
  { sessionId, runId }: Place,
  attemptId: AttemptId,
  corrections: readonly Correction[],
): Result<readonly EventFacts[], InvalidInput> {
  const facts: Extract<EventFacts, { kind: 'node_output_appended' }>[] = [];
  for (const { corrected, payload: given } of corrections) {
    const { outputId: supersedesOutputId, nodeId } = corrected;
    const payload = checkInput(outputPayload, withinBudget(given), 'correction');
    if (!payload.ok) return payload;
    facts.push({
      sessionId,
      kind: 'node_output_appended',
      scope: { runId, nodeId },
      data: {
        outputId: guidedId<OutputId>('correction', sessionId, nodeId, attemptId, supersedesOutputId),
        supersedesOutputId,
        outputChannel: payload.value.payloadKind === 'notes' ? 'recap' : 'artifact',
        payload: payload.value,
      },
    });
  }
  const rank = ({ data }: (typeof facts)[number]) =>
    `${data.outputChannel === 'recap' ? 0 : 1}${data.supersedesOutputId}`;
  return ok(facts.sort((left, right) => (rank(left) < rank(right) ? -1 : 1)));
}

function withinBudget(payload: OutputPayload): OutputPayload {
  return payload.payloadKind === 'notes'
    ? { ...payload, notesMarkdown: truncateUtf8(payload.notesMarkdown, budgets.notesMarkdown) }
    : payload;
}

function outputFact(
  { sessionId, runId, nodeId }: Place,
  attemptId: AttemptId,
  discriminator: readonly ['recap' | 'artifact', ...string[]],
  payload: OutputPayload,
): EventFacts {
  const outputId = guidedId<OutputId>('output', sessionId, nodeId, attemptId, ...discriminator);
  return {
    sessionId,
    kind: 'node_output_appended',
    scope: { runId, nodeId },
    data: { outputId, outputChannel: discriminator[0], payload },
  };
}
