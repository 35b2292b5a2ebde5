import type { Json, JsonObject } from '@signalbox/model';
import { filledTemplate } from '@signalbox/testkit';
import type { GuidedTools, StepAnswer } from '../../src/index.ts';

/** Notes that keep every rule of the bundled workflows. */
export const NOTES = [
  'Evidence 1: the second run fails (src/a.ts:10). Evidence 2: the same without the cache (src/b.ts:20).',
  'H1: the cache. H2: the clock. H3: the test itself. Each would be refuted by a run without it.',
  'Part A: what speaks for it. Part B: what speaks against it. Source: the manual, opened and read.',
  'Source 1: the manual, primary. Source 2: the code, primary. Source 3: a measurement, secondary.',
  'Answer: it is the cache. Confidence: high, two sources. Open: nothing. Would change it: a run that fails without it.',
  'Area 1: src/a.ts. Finding 1: (major) src/a.ts:10 reads a value after it was freed. No findings elsewhere.',
  'AC1: it works. Slice 1: src/a.ts meets AC1. Tension 1: speed against size. Claim 1: it is fast.',
  'Candidate 1: one. Candidate 2: two. Candidate 3: three. Chosen: Candidate 2. Rejected: the others, as larger.',
  'Assumption 1: the clock is right, checked. Finding 1: confirmed by a run.',
  'What was done is written down at some length, so that whoever reads it later knows what was looked at and why.',
].join('\n');

/** The next call of an answer, with its templates filled in. */
export function filledIn(answer: StepAnswer, context?: JsonObject): Parameters<GuidedTools['continue']>[0] {
  const call = answer.nextCall?.arguments;
  if (call === undefined) throw new Error('there is no next call');
  const { artifacts = [] } = call.output as { readonly artifacts?: readonly Json[] };
  const turn = Number(/@(\d+)::/.exec(answer.pending?.stepInstanceKey ?? '')?.[1] ?? 0);
  const given = artifacts.map(artifact => fillArtifact(artifact as JsonObject, turn, answer));
  return {
    ...call,
    output: { notesMarkdown: `${answer.pending?.stepInstanceKey}\n${NOTES}`, artifacts: given },
    ...(context && { context }),
  } as Parameters<GuidedTools['continue']>[0];
}

function fillArtifact(artifact: JsonObject, turn: number, answer: StepAnswer): Json {
  if (artifact.kind === 'wr.loop_control') {
    const loopId = /([a-z0-9_-]+)@\d+::/.exec(answer.pending?.stepInstanceKey ?? '')?.[1] ?? '';
    return { kind: artifact.kind, loopId, decision: turn === 0 ? 'continue' : 'stop' };
  }
  // The last level of a dimension is the best one.
  return filledTemplate(artifact, choices => choices.at(artifact.kind === 'wr.assessment' ? -1 : 0) ?? '');
}

export function keysOf(answers: readonly StepAnswer[]): readonly string[] {
  return answers.map(answer => answer.pending?.stepInstanceKey ?? 'complete');
}
