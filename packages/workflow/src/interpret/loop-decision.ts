import type { Json, JsonObject } from '@signalbox/model';
import type { CompiledLoop } from '../compile/compiled-workflow.ts';
import { formatStepInstanceKey, type LoopTurn, type StepInstance } from '../session/step-instance-key.ts';
import { type ConditionFault, conditionValue, contextValue, isList } from './condition-value.ts';
import { artifactFaults, artifactsOf } from './contract-judgement.ts';
import type { Effort } from './pattern-match.ts';
import { conditionReason, contextKeyPointer, type Reason } from './reason.ts';
import { stepContext } from './step-context.ts';
import type { WorkflowIndex } from './workflow-index.ts';

/** The output of a step instance on the way here. */
export interface StepOutput {
  readonly step: StepInstance;
  readonly artifacts: readonly Json[];
}

/** The input of decisions: the durable context, and the outputs on the way here, oldest first. */
export interface Facts {
  readonly context: JsonObject;
  readonly outputs: readonly StepOutput[];
  readonly effort: Effort;
}

/**
 * `undecided`: the author's condition cannot be evaluated. It never ends a loop: `goesOn` says what a mode that never stops
 * does instead of blocking.
 */
export type LoopDecision =
  | { readonly kind: 'run' | 'stop'; readonly why: string; readonly conditionId?: string | undefined }
  | {
      readonly kind: 'undecided';
      readonly reason: Reason;
      readonly goesOn: boolean;
      readonly conditionId?: string | undefined;
    }
  | { readonly kind: 'no_such_condition'; readonly conditionId: string };

/** Whether iteration `iteration` of a loop is wanted, ignoring its limit. `outer` is the path of the enclosing loops. */
export function decideIteration(
  index: WorkflowIndex,
  loop: CompiledLoop,
  outer: readonly LoopTurn[],
  iteration: number,
  facts: Facts,
): LoopDecision {
  const { control } = loop;
  const outside = stepContext(index, facts.context, outer);
  switch (control.kind) {
    case 'count':
      return counted(control.count, iteration);
    case 'count_key': {
      const count = contextValue(outside, control.key);
      if (typeof count === 'number' && Number.isInteger(count) && count >= 0) return counted(count, iteration);
      return undecidedByKey(loop, control.key, count, 'a whole number, 0 or more');
    }
    case 'items_key': {
      const items = contextValue(outside, control.key);
      if (!isList(items)) return undecidedByKey(loop, control.key, items, 'a list');
      return iteration < items.length
        ? { kind: 'run', why: `item ${iteration + 1} of ${items.length}` }
        : { kind: 'stop', why: `all ${items.length} items are done` };
    }
    case 'condition_ref': {
      const { conditionId } = control;
      const condition = index.conditions.get(conditionId);
      if (condition === undefined) return { kind: 'no_such_condition', conditionId };
      if (condition.kind === 'loop_control') {
        return { ...bySaid(index, loop, condition.contractRef, outer, iteration, facts), conditionId };
      }
      const expression = index.expressions.get(conditionId);
      if (expression === undefined) return { kind: 'no_such_condition', conditionId };
      const inside = stepContext(index, facts.context, [...outer, { loopId: loop.loopId, iteration }]);
      const holds = conditionValue(expression, inside, { missing: 'is_fault', effort: facts.effort });
      // Nothing can have set the key of an `until` before its first iteration, so it is entered.
      if (!holds.ok && loop.type === 'until' && iteration === 0 && holds.error.code === 'missing_key') {
        return { kind: 'run', why: `its first turn sets ${holds.error.key}`, conditionId };
      }
      if (!holds.ok) return { ...undecidedByCondition(loop, holds.error), conditionId };
      const wanted = holds.value === (loop.type !== 'until');
      return { kind: wanted ? 'run' : 'stop', why: `the condition is ${holds.value}`, conditionId };
    }
  }
}

const counted = (count: number, iteration: number): LoopDecision =>
  iteration < count
    ? { kind: 'run', why: `turn ${iteration + 1} of ${count}` }
    : { kind: 'stop', why: `all ${count} turns are done` };

/** The body decides, so the first iteration always runs; after that, its newest valid artifact counts. */
function bySaid(
  index: WorkflowIndex,
  loop: CompiledLoop,
  contractRef: string,
  outer: readonly LoopTurn[],
  iteration: number,
  facts: Facts,
): LoopDecision {
  if (iteration === 0) return { kind: 'run', why: 'its body decides whether there is a second turn' };
  const contract = index.contracts.get(contractRef);
  const turn = [...outer, { loopId: loop.loopId, iteration: iteration - 1 }];
  const artifacts = facts.outputs
    .filter(output => samePath(output.step.loopPath, turn))
    .flatMap(({ artifacts }) => artifacts);
  const given = contract === undefined ? [] : artifactsOf(contract, artifacts);
  const decision = given.findLast(
    artifact => contract !== undefined && artifactFaults(index, contract, turn, artifact).length === 0,
  )?.decision;
  if (decision === 'continue' || decision === 'stop')
    return { kind: decision === 'continue' ? 'run' : 'stop', why: `the agent said ${decision}` };
  const place = formatStepInstanceKey({ stepId: loop.loopId, loopPath: turn });
  const none = given.length === 0;
  return {
    kind: 'undecided',
    goesOn: true,
    reason: {
      reason: {
        category: 'contract_violation',
        detail: none ? 'missing_required_output' : 'invalid_required_output',
      },
      pointer: { kind: 'output_contract', contractRef },
      message: `Loop ${loop.loopId} cannot tell whether to go on: turn ${place} gave ${none ? 'no' : 'no valid'} artifact of ${contractRef}.`,
      suggestedFix: `Add {"kind":"${contract?.artifactKind ?? 'wr.loop_control'}","loopId":"${loop.loopId}","decision":"<continue | stop>"} to output.artifacts, with your decision.`,
    },
  };
}

function undecidedByKey(loop: CompiledLoop, key: string, value: Json, wanted: string): LoopDecision {
  const missing = value === null;
  return {
    kind: 'undecided',
    goesOn: false,
    reason: {
      reason: {
        category: 'contract_violation',
        detail: missing ? 'missing_required_output' : 'invalid_required_output',
      },
      pointer: contextKeyPointer(key),
      message: `Loop ${loop.loopId} needs ${wanted} in the context key ${key}, which ${missing ? 'is missing' : 'holds something else'}.`,
      suggestedFix: `Send context with ${key} set to ${wanted}.`,
    },
  };
}

function undecidedByCondition(loop: CompiledLoop, fault: ConditionFault): LoopDecision {
  return { kind: 'undecided', goesOn: true, reason: conditionReason(`Loop ${loop.loopId}`, fault) };
}

function samePath(left: readonly LoopTurn[], right: readonly LoopTurn[]): boolean {
  return (
    left.length === right.length &&
    left.every((turn, at) => turn.loopId === right[at]?.loopId && turn.iteration === right[at]?.iteration)
  );
}
