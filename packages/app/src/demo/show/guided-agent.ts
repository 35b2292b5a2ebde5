import type { GuidedTools, StepAnswer } from '@signalbox/guided';
import type { JsonObject } from '@signalbox/model';
import { filledTemplate } from '@signalbox/testkit';
import type { Machine } from '../../machine.ts';

/** Between two steps, so that a person can watch them. */
const PACE_MS = 4_000;
const STEPS_MAX = 40;

/**
 * An agent that walks a guided workflow, a step every few seconds, until its end or a question to the person. It fills in the next call of
 * each answer. Call the returned function to end it.
 */
export function walkSlowly(guided: GuidedTools, timers: Machine['timers']): () => void {
  let isOver = false;
  let stopTimer: () => void = () => undefined;
  const later = (run: () => Promise<void>) => {
    stopTimer = timers.after(PACE_MS, () => {
      if (!isOver) void run().catch(() => undefined);
    });
  };
  const walk = async (answer: StepAnswer, steps: number): Promise<void> => {
    if (
      isOver ||
      steps >= STEPS_MAX ||
      answer.kind === 'blocked' ||
      answer.nextIntent !== 'perform_pending_then_continue'
    ) {
      return;
    }
    const next = await guided.continue(filledIn(answer));
    if (next.ok) later(() => walk(next.value, steps + 1));
  };
  later(async () => {
    const started = await guided.start({ workflowId: 'wr.bug-investigation' });
    if (started.ok) later(() => walk(started.value, 0));
  });
  return () => {
    isOver = true;
    stopTimer();
  };
}

/** The demo agent's findings: enough for every requirement of its workflow. */
const NOTES = [
  'Evidence 1: the second run of the importer fails (src/import.ts:41). Evidence 2: so it does with an empty cache (src/cache.ts:12).',
  'H1: the cache keeps a closed connection. H2: the clock of the test is wrong. H3: the test itself. A run without each refutes it.',
  'Finding 1: confirmed by a run with the cache switched off. Assumption 1: the clock is right, checked.',
  'What was done is written down at some length, so that whoever reads it later knows what was looked at and why.',
].join('\n');

function filledIn(answer: StepAnswer): Parameters<GuidedTools['continue']>[0] {
  const call = answer.nextCall?.arguments ?? {};
  const { artifacts = [] } = (call.output ?? {}) as { readonly artifacts?: readonly JsonObject[] };
  const key = answer.pending?.stepInstanceKey ?? '';
  const turn = Number(/@(\d+)::/.exec(key)?.[1] ?? 0);
  const given = artifacts.map(artifact => filledArtifact(artifact, key, turn));
  const output = { notesMarkdown: NOTES, artifacts: given };
  return { ...call, output } as Parameters<GuidedTools['continue']>[0];
}

function filledArtifact(artifact: JsonObject, key: string, turn: number): JsonObject {
  if (artifact.kind === 'wr.loop_control') {
    const loopId = /([a-z0-9_-]+)@\d+::/.exec(key)?.[1] ?? '';
    return { kind: artifact.kind, loopId, decision: turn === 0 ? 'continue' : 'stop' };
  }
  // The last level of a dimension is the best one.
  const pick = (choices: readonly string[]) => choices.at(artifact.kind === 'wr.assessment' ? -1 : 0) ?? '';
  return filledTemplate(artifact, pick) as JsonObject;
}
