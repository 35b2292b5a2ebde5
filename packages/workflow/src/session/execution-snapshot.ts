import { canonicalJson, type Digest, digest, type Hasher } from '@signalbox/model';
import * as z from 'zod';
import { delimiterSafeId } from '../compile/compiled-workflow.ts';
import { formatStepInstanceKey, type StepInstanceKey, stepInstance, stepInstanceKey } from './step-instance-key.ts';

/**
 * The place of a walk through a workflow, and nothing else: outputs are in the events, views in projections.
 *
 * E1  The pending step is not among the completed ones.
 * E2  No loop is on the stack twice.
 * E3  The loop path of the pending step is the loop stack.
 * E4  Completed steps are a set, in ascending order of their keys.
 */
const loopFrame = z.strictObject({
  loopId: delimiterSafeId,
  iteration: z.int().nonnegative(),
  bodyIndex: z.int().nonnegative(),
});
export type LoopFrame = Readonly<z.infer<typeof loopFrame>>;

const completedSteps = z.strictObject({
  kind: z.literal('set'),
  values: z.array(stepInstanceKey).refine(isAscending, 'completed steps are distinct and in ascending order'),
});

const pendingStep = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({ kind: z.literal('some'), step: stepInstance }),
]);

const runningState = z
  .strictObject({
    kind: z.literal('running'),
    completed: completedSteps,
    loopStack: z
      .array(loopFrame)
      .refine(stack => new Set(stack.map(frame => frame.loopId)).size === stack.length, 'a loop is on the stack twice'),
    pending: pendingStep,
  })
  .superRefine(({ completed, loopStack, pending }, context) => {
    if (pending.kind === 'none') return;
    if (completed.values.includes(formatStepInstanceKey(pending.step))) {
      context.addIssue({ code: 'custom', path: ['pending'], message: 'the pending step is completed already' });
    }
    const { loopPath } = pending.step;
    const agrees =
      loopPath.length === loopStack.length &&
      loopPath.every(
        (turn, depth) => turn.loopId === loopStack[depth]?.loopId && turn.iteration === loopStack[depth]?.iteration,
      );
    if (!agrees) {
      context.addIssue({ code: 'custom', path: ['pending'], message: 'its loop path is not the loop stack' });
    }
  });

export const engineState = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('init') }),
  runningState,
  z.strictObject({ kind: z.literal('complete') }),
]);
export type EngineState = z.infer<typeof engineState>;

const enginePayloadV1 = z.strictObject({ v: z.literal(1), engineState });

export const executionSnapshotFileV1 = z.strictObject({
  v: z.literal(1),
  kind: z.literal('execution_snapshot'),
  workflowHash: digest,
  enginePayload: enginePayloadV1,
});
export type ExecutionSnapshotFileV1 = z.infer<typeof executionSnapshotFileV1>;

/** The bytes of a snapshot are its canonical JSON; their digest is its name. */
export function encodeSnapshot(
  hasher: Hasher,
  workflowHash: Digest,
  state: EngineState,
): { readonly ref: Digest; readonly text: string; readonly file: ExecutionSnapshotFileV1 } {
  const file = executionSnapshotFileV1.parse({
    v: 1,
    kind: 'execution_snapshot',
    workflowHash,
    enginePayload: { v: 1, engineState: state },
  });
  const text = canonicalJson(file);
  return { ref: hasher(text), text, file };
}

export function completedSet(keys: Iterable<StepInstanceKey>): z.infer<typeof completedSteps> {
  return { kind: 'set', values: [...new Set(keys)].sort() };
}

export function derivePendingStep(state: EngineState): z.infer<typeof stepInstance> | undefined {
  return state.kind === 'running' && state.pending.kind === 'some' ? state.pending.step : undefined;
}

function isAscending(keys: readonly string[]): boolean {
  return keys.every((key, index) => index === 0 || (keys[index - 1] ?? '') < key);
}
