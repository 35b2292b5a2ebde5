import type { JsonObject } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CompiledWorkflowSnapshotV1 } from '../../src/index.ts';
import { conditionValue } from '../../src/interpret/condition-value.ts';
import { anyRoutine, anyWorkflow } from '../compile/arbitrary-workflow.ts';
import { compile } from '../compile/sources.ts';
import { walkToEnd } from '../walk/generic-agent.ts';

const RUNS = process.env.SIGNALBOX_SOAK === '1' ? 1_000 : 30;

const context: fc.Arbitrary<JsonObject> = fc.record({
  alpha: fc.oneof(fc.boolean(), fc.integer({ min: -3, max: 3 })),
  beta: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constant('yes')),
  gamma: fc.integer({ min: -3, max: 3 }),
});
const mode = fc.constantFrom('guided', 'full_auto_stop_on_user_deps', 'full_auto_never_stop');

describe('[W173] any workflow that compiles, in any context and mode', () => {
  it('is walked to an end that is said, in bounded loops, and walked again is the same bytes', () => {
    fc.assert(
      fc.property(anyWorkflow, context, mode, fc.boolean(), (source, start, autonomy, isLazy) => {
        const { snapshot, workflowHash } = compiled(source);
        const isIdle = isLazy && autonomy === 'full_auto_never_stop';
        const walk = () => walkToEnd(snapshot, workflowHash, { context: start, autonomy, isIdle });
        const first = walk();
        expect(walk()).toEqual(first);
        expect(new Set(first.keys).size).toBe(first.keys.length);
        expect(first.snapshots.length).toBe(first.keys.length + 1);
        expect(first.end === 'nothing_ran').toBe(first.keys.length === 0);
        for (const key of first.keys) {
          for (const [, loopId = '', turn = ''] of key.matchAll(/([a-z0-9_-]+)@(\d+)/g)) {
            const loop = snapshot.loops.find(each => each.loopId === loopId);
            expect(Number(turn)).toBeLessThan(loop?.maxIterations ?? 0);
          }
        }
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  });

  it('skips no step whose condition holds and takes none whose does not, where the context stays as it is', () => {
    let compared = 0;
    fc.assert(
      fc.property(anyWorkflow, context, (source, start) => {
        const { snapshot, workflowHash } = compiled(source);
        const walked = walkToEnd(snapshot, workflowHash, { context: start });
        fc.pre(walked.context === start);
        compared++;
        const wanted = snapshot.program.flatMap(entry => {
          const step = entry.kind === 'step' && snapshot.steps.find(each => each.stepId === entry.stepId);
          return step && isWanted(snapshot, step.runConditionId, start) ? [step.stepId] : [];
        });
        expect(walked.keys.filter(key => !key.includes('::'))).toEqual(wanted);
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
    expect(compared).toBe(RUNS);
  });
});

/** Rules on notes may contradict each other, and loops multiply: neither is what is asked here. */
function compiled(source: unknown) {
  const result = compile(source, { routines: [anyRoutine] });
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  const { snapshot, workflowHash } = result.value;
  fc.pre(instancesOf(snapshot) <= MAX_INSTANCES);
  return { snapshot: { ...snapshot, steps: snapshot.steps.map(({ validation: _, ...step }) => step) }, workflowHash };
}

const MAX_INSTANCES = 30;

function instancesOf({ steps, loops }: CompiledWorkflowSnapshotV1): number {
  const turns = (loopId: string) => loops.find(loop => loop.loopId === loopId)?.maxIterations ?? 1;
  return steps.reduce((sum, step) => sum + step.loops.reduce((product, loopId) => product * turns(loopId), 1), 0);
}

function isWanted(snapshot: CompiledWorkflowSnapshotV1, conditionId: string | undefined, seen: JsonObject): boolean {
  const condition = snapshot.conditions.find(each => each.conditionId === conditionId);
  if (condition?.kind !== 'expression') return true;
  const value = conditionValue(condition.expression, [seen]);
  return value.ok && value.value;
}
