import { type Digest, type Json, type JsonObject, portableHasher } from '@signalbox/model';
import { expect } from 'vitest';
import type { Autonomy, CompiledStep, CompiledWorkflowSnapshotV1 } from '../../src/compile/compiled-workflow.ts';
import { conditionValue } from '../../src/interpret/condition-value.ts';
import { nextIntentOf } from '../../src/interpret/confirmation.ts';
import { interpret, type Next } from '../../src/interpret/interpreter.ts';
import { type Given, type Judgement, judgeOutput } from '../../src/interpret/output-judgement.ts';
import { renderPrompt } from '../../src/prompts/prompt.ts';
import { blockerReport } from '../../src/session/blockers.ts';
import { decisionTraceAppendedData } from '../../src/session/event-data.ts';
import { type EngineState, encodeSnapshot, engineState } from '../../src/session/execution-snapshot.ts';
import { modePresets, type Preferences } from '../../src/session/preferences.ts';
import { type BlockerCode, reasonCodeOf } from '../../src/session/reasons.ts';
import {
  formatStepInstanceKey,
  type LoopTurn,
  parseStepInstanceKey,
  type StepInstance,
} from '../../src/session/step-instance-key.ts';
import { contextFor, notesFor } from './answer-writer.ts';

export interface Walked {
  /** The step instances that were passed, in order. */
  readonly keys: readonly string[];
  readonly stepIds: ReadonlySet<string>;
  readonly end: Extract<Next, { kind: 'completed' }>['because'];
  /** Attempts that were lacking on purpose, by what blocked them. */
  readonly blocked: readonly BlockerCode[];
  /** Gaps disclosed instead of blocking. */
  readonly gaps: readonly string[];
  readonly confirmations: number;
  readonly prompts: ReadonlyMap<string, string>;
  /** The context at the end. */
  readonly context: JsonObject;
  /** The digests of the snapshots, the end's included. */
  readonly snapshots: readonly Digest[];
}

export interface Walking {
  readonly autonomy?: Autonomy;
  readonly context?: JsonObject;
  /** Gives nothing at all, wherever it is asked. */
  readonly isIdle?: boolean;
}

const MAX_ATTEMPTS = 2_000;

type Running = Extract<EngineState, { kind: 'running' }>;

/**
 * Walks a compiled workflow to its end, knowing nothing of it but what its steps ask. Before it gives what a step wants it
 * tries every way to give less, and each is blocked by the code it should be. Every loop has two turns.
 */
export function walkToEnd(
  compiled: CompiledWorkflowSnapshotV1,
  workflowHash: Digest,
  { autonomy = 'guided', context: start = {}, isIdle = false }: Walking = {},
): Walked {
  const preferences = modePresets[autonomy];
  let context: JsonObject = start;
  let state: EngineState = { kind: 'init' };
  const outputs: { step: StepInstance; artifacts: readonly Json[] }[] = [];
  const keys: string[] = [];
  const blocked: BlockerCode[] = [];
  const gaps: string[] = [];
  const prompts = new Map<string, string>();
  const snapshots: Digest[] = [];
  let confirmations = 0;

  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    let next: Next;
    if (state.kind !== 'running') {
      next = taken(interpret(compiled, state, { kind: 'started' }, { context, outputs, autonomy }));
    } else {
      const { pending, step } = pendingOf(compiled, state);
      const key = formatStepInstanceKey(pending);
      expect(taken(parseStepInstanceKey(key))).toEqual(pending);
      if (nextIntentOf(compiled, state, context, autonomy) === 'await_user_confirmation') confirmations++;
      const shown = taken(renderPrompt(compiled, state, context, attempt % 2 === 0 ? { earlier: [] } : undefined));
      expect(shown.prompt).not.toContain('{{wr.');
      prompts.set(step.stepId, shown.prompt);
      context = isIdle ? context : turned(compiled, pending.loopPath, context);
      const asking: Asking = { compiled, state, context, preferences };
      const artifacts = isIdle ? [] : artifactsFor(compiled, step, pending.loopPath);
      const judged = isIdle
        ? taken(judgeOutput(compiled, state, { output: { artifacts: [] }, context, preferences }))
        : givenAll(asking, step, artifacts, blocked);
      if (judged.kind === 'blocked') throw new Error(JSON.stringify([key, judged.report], null, 1));
      gaps.push(...judged.gaps.map(({ reason }) => reasonCodeOf(reason)));
      const event = { kind: 'step_completed', key, artifacts } as const;
      next = taken(interpret(compiled, state, event, { context, outputs, autonomy }));
      if (next.kind !== 'blocked') {
        keys.push(key);
        outputs.push({ step: pending, artifacts });
      }
    }
    if (next.trace.length > 0) decisionTraceAppendedData.shape.entries.parse(next.trace);
    if (next.kind === 'blocked') {
      blocked.push(...blockerReport.parse(next.report).blockers.map(({ code }) => code));
      context = mended(compiled, next, context);
      continue;
    }
    gaps.push(...next.gaps.map(({ reason }) => reasonCodeOf(reason)));
    state = engineState.parse(next.state);
    snapshots.push(encodeSnapshot(portableHasher, workflowHash, state).ref);
    if (next.kind === 'completed') {
      const stepIds = new Set(outputs.map(({ step }) => step.stepId));
      return { keys, stepIds, end: next.because, blocked, gaps, confirmations, prompts, context, snapshots };
    }
  }
  throw new Error(`no end after ${keys.join(' ')}`);
}

/** A context in which as many steps run as can. */
export function runningAll(compiled: CompiledWorkflowSnapshotV1): JsonObject {
  const ids = [...compiled.loops, ...compiled.steps].flatMap(({ runConditionId }) => runConditionId ?? []);
  return ids.reduce<JsonObject>((context, id) => {
    const condition = compiled.conditions.find(({ conditionId }) => conditionId === id);
    return condition?.kind === 'expression' ? contextFor(condition.expression, true, context) : context;
  }, {});
}

function pendingOf(compiled: CompiledWorkflowSnapshotV1, state: Running) {
  if (state.pending.kind === 'none') throw new Error('nothing is pending');
  const pending = state.pending.step;
  const step = compiled.steps.find(({ stepId }) => stepId === pending.stepId);
  if (step === undefined) throw new Error(pending.stepId);
  return { pending, step };
}

interface Asking {
  readonly compiled: CompiledWorkflowSnapshotV1;
  readonly state: Running;
  readonly context: JsonObject;
  readonly preferences: Preferences;
}

const QUESTION = 'Which of the two?';

/** Everything that the step asks for; before it, each time with one thing less or wrong. */
function givenAll(
  { compiled, state, context, preferences }: Asking,
  step: CompiledStep,
  artifacts: readonly Json[],
  blocked: BlockerCode[],
): Judgement {
  const [choice] = step.nonAssumableChoices ?? [];
  const asked = `Step ${step.stepId} waits for the person: ${QUESTION}`;
  const chosen = { reason: 'needs_user_choice', asked, answer: 'answered' } as const;
  const approved = {
    reason: 'needs_user_approval',
    asked: `Step ${step.stepId} needs the approval of a person before it can be passed.`,
    answer: 'approved',
  } as const;
  const needs = choice === undefined ? [] : [{ reason: chosen.reason, choice, summary: QUESTION }];
  const whole: Given = {
    output: { notes: notesFor(step.validation), artifacts, needs },
    context,
    preferences,
    answers: [approved, chosen],
    capabilities: { delegation: 'available', web_browsing: 'available' },
  };
  const judge = (given: Given) => taken(judgeOutput(compiled, state, given));
  const [first] = artifacts;
  const isAsked = (given: Given, isLacking: boolean, code: BlockerCode) => {
    if (!isLacking) return;
    const judged = judge(given);
    const codes = judged.kind === 'blocked' ? blockerReport.parse(judged.report).blockers.map(each => each.code) : [];
    expect([step.stepId, codes]).toEqual([step.stepId, expect.arrayContaining([code])]);
    blocked.push(code);
  };
  const { output } = whole;
  const mayStop = preferences.autonomy !== 'full_auto_never_stop';
  const asksArtifact = step.output?.required === true || step.assessmentRefs.length > 0;
  isAsked({ ...whole, output: { ...output, notes: ' ' } }, mayStop && step.notesRequired, 'MISSING_REQUIRED_OUTPUT');
  isAsked({ ...whole, output: { ...output, artifacts: [] } }, mayStop && asksArtifact, 'MISSING_REQUIRED_OUTPUT');
  isAsked(
    { ...whole, output: { ...output, artifacts: [broken(first)] } },
    mayStop && first !== undefined,
    'INVALID_REQUIRED_OUTPUT',
  );
  const worse = followedUp(compiled, step);
  isAsked(
    { ...whole, output: { ...output, artifacts: [...artifacts, ...worse] } },
    mayStop && worse.length > 0,
    'INVALID_REQUIRED_OUTPUT',
  );
  isAsked({ ...whole, answers: [approved] }, mayStop && needs.length > 0, 'USER_ONLY_DEPENDENCY');
  const asksPerson = preferences.autonomy === 'guided' ? ['human_approval', 'user'] : ['human_approval'];
  const approves = step.confirmation.kind === 'required' && asksPerson.includes(step.confirmation.approval);
  const isConditional = step.confirmation.kind === 'required' && step.confirmation.conditionId !== undefined;
  isAsked({ ...whole, answers: [chosen] }, mayStop && approves && !isConditional, 'USER_ONLY_DEPENDENCY');
  if (step.probe !== undefined) {
    const failed = [{ ...(first as JsonObject), result: 'failure', failureCode: 'tool_missing' }];
    isAsked({ ...whole, output: { ...output, artifacts: failed } }, mayStop, 'REQUIRED_CAPABILITY_UNAVAILABLE');
  } else {
    const isNeeded = compiled.capabilities.required.length > 0;
    isAsked({ ...whole, capabilities: {} }, mayStop && isNeeded, 'REQUIRED_CAPABILITY_UNKNOWN');
  }
  return judge(whole);
}

/** An artifact of the same kind that keeps no contract. */
function broken(artifact: Json | undefined): Json {
  const kind = typeof artifact === 'object' && artifact !== null ? Reflect.get(artifact, 'kind') : undefined;
  return { kind, notAField: [] } as Json;
}

/** The examples of the contracts, as the step's place wants them: one more turn of every loop, then no more. */
function artifactsFor(
  { contracts, assessments }: CompiledWorkflowSnapshotV1,
  step: CompiledStep,
  loopPath: readonly LoopTurn[],
): readonly Json[] {
  const contract = contracts.find(({ contractRef }) => contractRef === step.output?.contractRef);
  const turn = loopPath.at(-1);
  const own: JsonObject | undefined = contract && {
    ...(contract.example as JsonObject),
    ...(step.probe && { capability: step.probe.capability }),
    ...(contract.contractRef === 'wr.contracts.loop_control' &&
      turn && { loopId: turn.loopId, decision: turn.iteration === 0 ? 'continue' : 'stop' }),
  };
  const assessed = step.assessmentRefs.map(id => assessmentBy(assessments, id, level => !isBad(step, id, level)));
  return [...(own === undefined || step.assessmentRefs.length > 0 ? [] : [own]), ...assessed];
}

/** Assessments by which a consequence fires. */
function followedUp({ assessments }: CompiledWorkflowSnapshotV1, step: CompiledStep): readonly Json[] {
  const [id] = step.assessmentConsequences.map(each => each.forAssessment ?? step.assessmentRefs[0] ?? '');
  return id === undefined ? [] : [assessmentBy(assessments, id, level => isBad(step, id, level))];
}

function isBad(step: CompiledStep, id: string, level: string): boolean {
  return step.assessmentConsequences.some(
    ({ anyEqualsLevel, forAssessment = id }) =>
      forAssessment === id && anyEqualsLevel.toLowerCase() === level.toLowerCase(),
  );
}

function assessmentBy(
  assessments: CompiledWorkflowSnapshotV1['assessments'],
  assessmentId: string,
  fits: (level: string) => boolean,
): JsonObject {
  const { dimensions = [] } = assessments.find(each => each.assessmentId === assessmentId) ?? {};
  return {
    kind: 'wr.assessment',
    assessmentId,
    dimensions: Object.fromEntries(
      dimensions.map(({ dimensionId, levels }) => [dimensionId, levels.find(fits) ?? levels[0] ?? '']),
    ),
  };
}

/** What the context-controlled loops around a step read: on after the first turn, not after the second. */
function turned(compiled: CompiledWorkflowSnapshotV1, loopPath: readonly LoopTurn[], context: JsonObject): JsonObject {
  return loopPath.reduce((before, { loopId, iteration }) => {
    const wanted = iteration === 0;
    return controlled(compiled, loopId, wanted, before);
  }, context);
}

function controlled(
  { loops, conditions }: CompiledWorkflowSnapshotV1,
  loopId: string,
  wanted: boolean,
  context: JsonObject,
): JsonObject {
  const loop = loops.find(each => each.loopId === loopId);
  if (loop?.control.kind !== 'condition_ref') return context;
  const { conditionId } = loop.control;
  const condition = conditions.find(each => each.conditionId === conditionId);
  if (condition?.kind !== 'expression') return context;
  return contextFor(condition.expression, wanted === (loop.type === 'while'), context);
}

/** The context with the keys that a blocker reports as missing. */
function mended(
  compiled: CompiledWorkflowSnapshotV1,
  { report }: Extract<Next, { kind: 'blocked' }>,
  context: JsonObject,
): JsonObject {
  const [blocker] = report.blockers;
  const loop = compiled.loops.find(each => blocker?.message.startsWith(`Loop ${each.loopId} `));
  if (blocker?.pointer.kind === 'context_key' && loop !== undefined) {
    const { control } = loop;
    if (control.kind === 'items_key') return { ...context, [control.key]: ['one', 'two'] };
    if (control.kind === 'count_key') return { ...context, [control.key]: 2 };
    if (control.kind === 'condition_ref') return controlled(compiled, loop.loopId, true, context);
  }
  const step = compiled.steps.find(each => blocker?.message.startsWith(`Step ${each.stepId} `));
  const condition = compiled.conditions.find(each => each.conditionId === (step ?? loop)?.runConditionId);
  if (condition?.kind !== 'expression') throw new Error(JSON.stringify(report));
  const fulfilled = contextFor(condition.expression, true, context);
  const told = conditionValue(condition.expression, [fulfilled]);
  // Nothing fulfills a condition whose parts contradict each other; a number can be compared, and tells that it does not hold.
  return told.ok ? fulfilled : { ...fulfilled, [told.error.key]: 0 };
}

function taken<T>(
  result: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown },
): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}
