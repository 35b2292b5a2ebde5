import { err, type Json, type JsonObject, ok, type Result } from '@signalbox/model';
import type { Autonomy, CompiledLoop, CompiledWorkflowSnapshotV1, ProgramEntry } from '../compile/compiled-workflow.ts';
import type { BlockerReport } from '../session/blockers.ts';
import type { TraceEntry } from '../session/event-data.ts';
import { completedSet, type EngineState, type LoopFrame } from '../session/execution-snapshot.ts';
import { formatStepInstanceKey, type StepInstanceKey } from '../session/step-instance-key.ts';
import { conditionValue } from './condition-value.ts';
import { keptDecisions, traceEntryOf } from './decision-trace.ts';
import type { InterpreterFault } from './interpreter-fault.ts';
import { decideIteration, type Facts, type StepOutput } from './loop-decision.ts';
import { PATTERN_MAX_STEPS } from './pattern-match.ts';
import { entriesOf, idOf, locatePending, type Position } from './position.ts';
import { blockerReportOf, blocks, conditionReason, type Gap, gapsOf, type Reason } from './reason.ts';
import { stepContext } from './step-context.ts';
import { indexWorkflow, type WorkflowIndex } from './workflow-index.ts';

/**
 * Decides the next step of a workflow: pure and deterministic.
 *
 * I1  A step instance becomes pending at most once: a completed one is never offered again.
 * I2  An iteration at or over `maxIterations` is never entered.
 * I3  Iterations start at 0 and count up only when one run of the body is over and another is wanted.
 * I4  The trace contains every evaluated condition, every loop entered and left, and the choice itself.
 * I5  It terminates: one call visits at most `WALK_MAX_LOOKS` places.
 * I6  A condition that cannot be evaluated blocks, or is a gap if the mode never stops. It never ends a loop.
 */
export function interpret(
  compiled: CompiledWorkflowSnapshotV1,
  state: EngineState,
  event: InterpreterEvent,
  situation: Situation,
): Result<Next, InterpreterFault> {
  const index = indexWorkflow(compiled);
  const effort = { steps: PATTERN_MAX_STEPS };
  if (state.kind === 'complete') {
    return err({ code: 'already_complete', id: compiled.workflowId, reason: 'the workflow is complete' });
  }
  if (event.kind === 'started') {
    if (state.kind !== 'init') {
      return err({ code: 'already_started', id: compiled.workflowId, reason: 'the workflow was started before' });
    }
    return walkFrom(index, { stack: [], at: -1 }, [], { ...situation, effort });
  }
  if (state.kind === 'init') {
    return err({ code: 'no_pending_step', id: event.key, reason: 'the workflow was not started' });
  }
  const located = locatePending(index, state);
  if (!located.ok) return located;
  const { position, pending } = located.value;
  const key = formatStepInstanceKey(pending);
  if (key !== event.key) {
    return err({ code: 'not_the_pending_step', id: event.key, reason: `the pending step is ${key}` });
  }
  const outputs = [...situation.outputs, { step: pending, artifacts: event.artifacts }];
  return walkFrom(index, position, [...state.completed.values, key], { ...situation, outputs, effort });
}

export type InterpreterEvent =
  | { readonly kind: 'started' }
  | { readonly kind: 'step_completed'; readonly key: StepInstanceKey; readonly artifacts: readonly Json[] };

export interface Situation {
  /** The durable context, with the attempt's additions. */
  readonly context: JsonObject;
  /** The outputs of completed steps on the way here, oldest first. */
  readonly outputs: readonly StepOutput[];
  readonly autonomy: Autonomy;
}

/** `skipped` counts the steps and loops skipped by their conditions on the way to the next step. */
export type Next =
  | {
      readonly kind: 'advanced';
      readonly state: EngineState;
      readonly gaps: readonly Gap[];
      readonly skipped: number;
      readonly trace: readonly TraceEntry[];
    }
  | {
      readonly kind: 'completed';
      readonly state: EngineState;
      /** Why no step is left: stated, because a workflow that was skipped entirely looks like a finished one. */
      readonly because: 'all_steps_done' | 'rest_skipped' | 'nothing_ran';
      readonly gaps: readonly Gap[];
      readonly skipped: number;
      readonly trace: readonly TraceEntry[];
    }
  | {
      readonly kind: 'blocked';
      readonly report: BlockerReport;
      /** The same reasons as durable disclosures. */
      readonly gaps: readonly Gap[];
      readonly trace: readonly TraceEntry[];
    };

/** Maximum number of entries and iteration ends that one call visits. */
const WALK_MAX_LOOKS = 10_000;

interface Walk {
  readonly index: WorkflowIndex;
  readonly facts: Facts;
  readonly autonomy: Autonomy;
  readonly trace: TraceEntry[];
  readonly gaps: Reason[];
  skipped: number;
  looks: number;
}

/** A visit either says how to continue, or ends the walk. */
type Look<T> =
  | { readonly kind: 'go'; readonly value: T }
  | { readonly kind: 'end'; readonly result: Result<Next, InterpreterFault> };

/** Continues from a finished entry to the next wanted step. */
function walkFrom(
  index: WorkflowIndex,
  from: Position,
  completed: readonly StepInstanceKey[],
  situation: Situation & Pick<Facts, 'effort'>,
): Result<Next, InterpreterFault> {
  const walk: Walk = {
    index,
    facts: situation,
    autonomy: situation.autonomy,
    trace: [],
    gaps: [],
    skipped: 0,
    looks: 0,
  };
  const stack = [...from.stack];
  let at = from.at;
  for (;;) {
    at++;
    walk.looks++;
    const entries = entriesOf(index, stack);
    const entry = entries[at];
    if (entry === undefined) {
      const frame = stack.pop();
      if (frame === undefined) return finish(walk, completed.length);
      const loop = index.loops.get(frame.loopId);
      if (loop === undefined) return unknownLoop(frame.loopId);
      const turn = nextTurn(walk, loop, stack, frame.iteration + 1);
      if (turn.kind === 'end') return turn.result;
      at = turn.value ? -1 : entriesOf(index, stack).findIndex(outer => idOf(outer) === frame.loopId);
      if (turn.value) stack.push({ loopId: loop.loopId, iteration: frame.iteration + 1, bodyIndex: 0 });
      continue;
    }
    const wanted = isWanted(walk, entry, stack);
    if (wanted.kind === 'end') return wanted.result;
    if (!wanted.value) continue;
    const innermost = stack.pop();
    if (innermost !== undefined) stack.push({ ...innermost, bodyIndex: at });
    if (entry.kind === 'step') return select(walk, entry.stepId, stack, completed);
    const loop = index.loops.get(entry.loopId);
    if (loop === undefined) return unknownLoop(entry.loopId);
    const turn = nextTurn(walk, loop, stack, 0);
    if (turn.kind === 'end') return turn.result;
    if (!turn.value) continue;
    stack.push({ loopId: loop.loopId, iteration: 0, bodyIndex: 0 });
    at = -1;
  }
}

/** Whether the run condition of an entry holds. */
function isWanted(walk: Walk, entry: ProgramEntry, stack: readonly LoopFrame[]): Look<boolean> {
  const { index, facts } = walk;
  const id = idOf(entry);
  if (!(entry.kind === 'step' ? index.steps : index.loops).has(id)) {
    const code = entry.kind === 'step' ? 'unknown_step' : 'unknown_loop';
    return end(err({ code, id, reason: `the program names ${id}, which is not there` }));
  }
  const conditionId = index.steps.get(id)?.runConditionId ?? index.loops.get(id)?.runConditionId;
  if (conditionId === undefined) return go(true);
  const expression = index.expressions.get(conditionId);
  if (expression === undefined) return noCondition(conditionId);
  const context = stepContext(index, facts.context, stack);
  const holds = conditionValue(expression, context, { missing: 'is_null', effort: facts.effort });
  const name = `${entry.kind === 'step' ? 'Step' : 'Loop'} ${id}`;
  const ref =
    entry.kind === 'step' ? ({ kind: 'step_id', stepId: id } as const) : ({ kind: 'loop_id', loopId: id } as const);
  const said = holds.ok
    ? holds.value
      ? 'its condition holds'
      : 'skipped, its condition does not hold'
    : holds.error.reason;
  walk.trace.push(traceEntryOf('evaluated_condition', `${name}: ${said}.`, ref, { kind: 'condition_id', conditionId }));
  if (!holds.ok) return undecided(walk, conditionReason(name, holds.error), true);
  if (holds.value) return go(true);
  walk.skipped++;
  if (entry.kind === 'loop') walk.trace.push(traceEntryOf('exited_loop', `${name} did not run: ${said}.`, ref));
  return go(false);
}

/** Whether an iteration of a loop begins. */
function nextTurn(walk: Walk, loop: CompiledLoop, outer: readonly LoopFrame[], iteration: number): Look<boolean> {
  const { loopId, maxIterations } = loop;
  const refs = [
    { kind: 'loop_id', loopId },
    { kind: 'iteration', value: iteration },
  ] as const;
  const leave = (why: string): Look<boolean> => {
    walk.trace.push(traceEntryOf('exited_loop', `Left loop ${loopId} after ${iteration} turns: ${why}.`, ...refs));
    return go(false);
  };
  const limit = { loopId, iteration, maxIterations };
  if (walk.looks > WALK_MAX_LOOKS) {
    const settled = undecided(walk, endless(limit), false);
    return settled.kind === 'end' ? settled : leave('no step of it runs');
  }
  const decision = decideIteration(walk.index, loop, outer, iteration, walk.facts);
  if (decision.kind === 'no_such_condition') return noCondition(decision.conditionId);
  const { conditionId } = decision;
  walk.trace.push(
    traceEntryOf(
      'evaluated_condition',
      `Loop ${loopId}, turn ${iteration + 1} of at most ${maxIterations}: ${decision.kind === 'undecided' ? decision.reason.message : `${decision.kind === 'run' ? 'wanted' : 'not wanted'}, ${decision.why}`}`,
      ...refs,
      ...(conditionId === undefined ? [] : [{ kind: 'condition_id', conditionId } as const]),
    ),
  );
  if (decision.kind === 'stop') return leave(decision.why);
  if (decision.kind === 'undecided') {
    const settled = undecided(walk, decision.reason, decision.goesOn);
    if (settled.kind === 'end') return settled;
    if (!settled.value) return leave('what it turns over is not there, which is disclosed as a gap');
  }
  if (iteration >= maxIterations) {
    const settled = undecided(walk, overLimit(limit), false);
    return settled.kind === 'end' ? settled : leave('its limit is reached, which is disclosed as a gap');
  }
  if (iteration === 0) walk.trace.push(traceEntryOf('entered_loop', `Entered loop ${loopId}.`, ...refs));
  return go(true);
}

/** Blocks or, if the mode never stops, discloses a gap and continues as given. */
function undecided(walk: Walk, reason: Reason, goesOn: boolean): Look<boolean> {
  if (blocks(walk.autonomy)) {
    return end(
      ok({
        kind: 'blocked',
        report: blockerReportOf([reason]),
        gaps: gapsOf([reason]),
        trace: keptDecisions(walk.trace),
      }),
    );
  }
  walk.gaps.push(reason);
  return go(goesOn);
}

function select(
  walk: Walk,
  stepId: string,
  loopStack: readonly LoopFrame[],
  completed: readonly StepInstanceKey[],
): Result<Next, InterpreterFault> {
  const loopPath = loopStack.map(({ loopId, iteration }) => ({ loopId, iteration }));
  const key = formatStepInstanceKey({ stepId, loopPath });
  if (completed.includes(key)) {
    return err({ code: 'completed_already', id: key, reason: `${key} would be next, and is completed already` });
  }
  walk.trace.push(
    traceEntryOf(
      'selected_next_step',
      `${key} is next.`,
      { kind: 'step_id', stepId },
      ...loopPath
        .slice(-1)
        .flatMap(({ loopId, iteration }) => [
          { kind: 'loop_id', loopId } as const,
          { kind: 'iteration', value: iteration } as const,
        ]),
    ),
  );
  const state: EngineState = {
    kind: 'running',
    completed: completedSet(completed),
    loopStack: [...loopStack],
    pending: { kind: 'some', step: { stepId, loopPath } },
  };
  return ok({
    kind: 'advanced',
    state,
    gaps: gapsOf(walk.gaps),
    skipped: walk.skipped,
    trace: keptDecisions(walk.trace),
  });
}

function finish(walk: Walk, done: number): Result<Next, InterpreterFault> {
  const because = done === 0 ? 'nothing_ran' : walk.skipped > 0 ? 'rest_skipped' : 'all_steps_done';
  const said = {
    nothing_ran: `Complete without a step: the conditions of ${walk.skipped} steps and loops did not hold, or loops had no turn.`,
    rest_skipped: `Complete: the conditions of the last ${walk.skipped} steps and loops did not hold.`,
    all_steps_done: 'Complete: no step is left.',
  }[because];
  walk.trace.push(traceEntryOf('selected_next_step', said));
  return ok({
    kind: 'completed',
    state: { kind: 'complete' },
    because,
    gaps: gapsOf(walk.gaps),
    skipped: walk.skipped,
    trace: keptDecisions(walk.trace),
  });
}

interface Limit {
  readonly loopId: string;
  readonly iteration: number;
  readonly maxIterations: number;
}

const overLimit = (details: Limit): Reason => ({
  reason: { category: 'unexpected', detail: 'invariant_violation' },
  pointer: { kind: 'workflow_step', stepId: details.loopId },
  message: `Loop ${details.loopId} is asked to go on with iteration ${details.iteration} and may have ${details.maxIterations} iterations.`,
  suggestedFix: `End loop ${details.loopId}: say "stop" in its loop control artifact, or change what its condition reads.`,
  details,
});

const endless = (details: Limit): Reason => ({
  reason: { category: 'unexpected', detail: 'invariant_violation' },
  pointer: { kind: 'workflow_step', stepId: details.loopId },
  message: `Loop ${details.loopId} is at iteration ${details.iteration} of ${details.maxIterations}, and no step runs in it.`,
  suggestedFix: `Change the context so that a step of loop ${details.loopId} runs or its condition ends it.`,
  details,
});

const go = <T>(value: T): Look<T> => ({ kind: 'go', value });
const end = (result: Result<Next, InterpreterFault>): Look<never> => ({ kind: 'end', result });

const noCondition = (id: string): Look<never> =>
  end(err({ code: 'unknown_condition', id, reason: `the workflow has no condition ${id} that can be asked here` }));

const unknownLoop = (id: string): Result<Next, InterpreterFault> =>
  err({ code: 'unknown_loop', id, reason: `the workflow has no loop ${id}` });
