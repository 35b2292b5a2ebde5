import { defined, type Json, type JsonObject, type Resolution, type WireDecision } from '@signalbox/model';
import type { GapAnswer } from '@signalbox/workflow';
import type { PersonGap, SessionSummary } from '../sessions/session-summary.ts';
import { answerOfGap, toolOfGap } from './projections/guided-parts.ts';

/** A gap that only the person can resolve, as a decision of the one queue (R7). */
export function decisionOfGap({ sessionId }: Pick<SessionSummary, 'sessionId'>, gap: PersonGap): WireDecision {
  const { gapId, runId, nodeId, summary, detail, askedAt, shown, status, closedAt } = gap;
  const resolution = resolutionOfGap(gap);
  return {
    approvalId: gapId,
    runId,
    nodeId,
    kind: 'guided',
    sessionId,
    tool: toolOfGap({ gapId, detail, summary }),
    context: summary,
    ...(status === 'answered' && { resolution: contractAnswer(gap) }),
    decision: {
      node: nodeId,
      iteration: 0,
      call: gapId,
      kind: isYesOrNo(detail) ? 'confirmation' : 'human',
      proposal: proposalOf(gap),
      proposalHash: shown,
      askedAt,
      status,
      ...defined({ resolution }),
      ...(closedAt !== null && { closedAt }),
    },
  };
}

/** The answer to a decision as an answer to a gap. */
export function gapAnswerOf(
  { resolutionType, rationale, value, modifiedArgs, chosenOptionId }: Resolution,
  shown: PersonGap['shown'] | undefined,
): GapAnswer {
  const hash = shown === undefined ? {} : { shown };
  const words = chosenOptionId ?? wordsIn(value) ?? wordsIn(modifiedArgs);
  if (resolutionType === 'reject') return { kind: 'denied', ...(rationale !== '' && { note: rationale }), ...hash };
  if (words !== undefined) return { kind: 'answered', value: words, ...hash };
  return { kind: 'approved', ...(rationale !== '' && { note: rationale }), ...hash };
}

/** Some gaps need only a yes; the others need an answer in words. */
function isYesOrNo(detail: string): boolean {
  return detail === 'needs_user_approval' || detail === 'needs_user_environment_action';
}

function proposalOf({ detail, summary, severity, step, proposed }: PersonGap): JsonObject {
  const about = step === null ? {} : { step: step.title, instructions: step.prompt };
  const given =
    proposed === null
      ? {}
      : { ...(proposed.notes !== null && { notes: proposed.notes }), ...artifactFields(proposed.artifacts) };
  const asked = { prompt: summary, needs: detail, severity, ...about, ...given };
  return isYesOrNo(detail) ? asked : { ...asked, schema: WORDS };
}

function artifactFields(artifacts: readonly string[]): JsonObject {
  return artifacts.length === 0 ? {} : { artifacts: artifacts.join('\n') };
}

/** The schema of an answer in words. */
const WORDS: Json = {
  type: 'object',
  properties: { value: { type: 'string', title: 'Your answer' } },
  required: ['value'],
};

/** A text, or an object with one under `value`; anything else as JSON. */
function wordsIn(value: Json | undefined): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  if (typeof value === 'object' && value !== null && 'value' in value && typeof value.value === 'string') {
    return value.value;
  }
  return JSON.stringify(value);
}

function contractAnswer({ answer }: PersonGap) {
  if (answer?.kind === 'answered') return answerOfGap({ kind: 'answered', value: answer.words ?? '' });
  return answerOfGap(answer === null ? undefined : { kind: answer.kind === 'denied' ? 'denied' : 'approved' });
}

function resolutionOfGap({ answer }: PersonGap): Resolution | undefined {
  if (answer === null) return undefined;
  const rest = { actionKind: 'review' } as const;
  if (answer.kind === 'answered') {
    return { resolutionType: 'approve', rationale: '', ...rest, value: { value: answer.words ?? '' } };
  }
  return {
    resolutionType: answer.kind === 'denied' ? 'reject' : 'approve',
    rationale: answer.words ?? '',
    ...rest,
  };
}
