import { err, ok, type Result } from '@signalbox/model';
import type { CompiledStep, ProgramEntry } from '../compile/compiled-workflow.ts';
import type { EngineState, LoopFrame } from '../session/execution-snapshot.ts';
import { formatStepInstanceKey, type StepInstance } from '../session/step-instance-key.ts';
import type { InterpreterFault } from './interpreter-fault.ts';
import type { WorkflowIndex } from './workflow-index.ts';

type Running = Extract<EngineState, { kind: 'running' }>;

/** A place in a program: the enclosing loops, and the index of an entry in the innermost body or the program itself. */
export interface Position {
  readonly stack: readonly LoopFrame[];
  readonly at: number;
}

export interface Located {
  readonly position: Position;
  readonly pending: StepInstance;
  readonly step: CompiledStep;
}

/** The place of a snapshot's pending step, after checking that the workflow contains everything in the snapshot. */
export function locatePending(index: WorkflowIndex, state: Running): Result<Located, InterpreterFault> {
  for (const key of state.completed.values) {
    // The schema has checked the key; the step comes after any loops.
    if (!index.steps.has(key.slice(key.lastIndexOf(':') + 1))) {
      return err({ code: 'unknown_step', id: key, reason: `${key} is completed, and the workflow has no such step` });
    }
  }
  if (state.pending.kind === 'none') {
    return err({ code: 'no_pending_step', id: index.compiled.workflowId, reason: 'the snapshot has no pending step' });
  }
  const pending = state.pending.step;
  const step = index.steps.get(pending.stepId);
  if (step === undefined) {
    const key = formatStepInstanceKey(pending);
    return err({ code: 'unknown_step', id: key, reason: `${key} is pending, and the workflow has no such step` });
  }
  const misplaced = stackFault(index, state.loopStack, pending);
  if (misplaced !== undefined) return err(misplaced);
  const body = entriesOf(index, state.loopStack);
  const at = body.findIndex(entry => entry.kind === 'step' && entry.stepId === pending.stepId);
  return at === -1 ? err(wrongPlace(pending.stepId)) : ok({ position: { stack: state.loopStack, at }, pending, step });
}

/** The entries that a position counts in. */
export function entriesOf(index: WorkflowIndex, stack: readonly LoopFrame[]): readonly ProgramEntry[] {
  const innermost = stack.at(-1);
  return innermost === undefined ? index.compiled.program : (index.loops.get(innermost.loopId)?.body ?? []);
}

function stackFault(
  index: WorkflowIndex,
  stack: readonly LoopFrame[],
  pending: StepInstance,
): InterpreterFault | undefined {
  for (const [depth, frame] of stack.entries()) {
    const loop = index.loops.get(frame.loopId);
    if (loop === undefined) {
      return { code: 'unknown_loop', id: frame.loopId, reason: `the workflow has no loop ${frame.loopId}` };
    }
    const outer = entriesOf(index, stack.slice(0, depth));
    if (!outer.some(entry => entry.kind === 'loop' && entry.loopId === frame.loopId)) return wrongPlace(frame.loopId);
    if (frame.iteration >= loop.maxIterations) {
      const reason = `iteration ${frame.iteration} of ${frame.loopId} is not below its limit of ${loop.maxIterations}`;
      return { code: 'iteration_over_limit', id: frame.loopId, reason };
    }
    const inside = stack[depth + 1]?.loopId ?? pending.stepId;
    const entry = loop.body[frame.bodyIndex];
    if (entry === undefined || idOf(entry) !== inside) return wrongPlace(inside);
  }
  return undefined;
}

export const idOf = (entry: ProgramEntry) => (entry.kind === 'step' ? entry.stepId : entry.loopId);

const wrongPlace = (id: string): InterpreterFault => ({
  code: 'wrong_place',
  id,
  reason: `${id} is not where the snapshot has it`,
});
