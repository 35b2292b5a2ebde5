import type { JsonObject } from '@signalbox/model';
import {
  type CompiledCondition,
  type CompiledLoop,
  type CompiledStep,
  type CompiledWorkflowSnapshotV1,
  compiledWorkflowSnapshotV1,
  type ProgramEntry,
} from '../../src/compile/compiled-workflow.ts';
import type { ConditionExpression } from '../../src/compile/condition.ts';
import type { Next, Situation } from '../../src/interpret/interpreter.ts';
import type { EngineState } from '../../src/session/execution-snapshot.ts';
import { formatStepInstanceKey } from '../../src/session/step-instance-key.ts';

export type Part =
  | {
      readonly kind: 'step';
      readonly id: string;
      readonly when?: ConditionExpression;
      readonly more?: Partial<CompiledStep>;
    }
  | {
      readonly kind: 'loop';
      readonly id: string;
      readonly type: CompiledLoop['type'];
      readonly max: number;
      readonly control: Control;
      readonly when?: ConditionExpression;
      readonly body: readonly Part[];
    };

export type Control =
  | { readonly by: 'count'; readonly count: number }
  | { readonly by: 'count_key' | 'items_key'; readonly key: string }
  | { readonly by: 'condition'; readonly expression: ConditionExpression }
  | { readonly by: 'agent' };

export const step = (id: string, more: Partial<CompiledStep> = {}, when?: ConditionExpression): Part => ({
  kind: 'step',
  id,
  more,
  ...(when && { when }),
});

export const loop = (
  id: string,
  type: CompiledLoop['type'],
  max: number,
  control: Control,
  body: readonly Part[],
  when?: ConditionExpression,
): Part => ({ kind: 'loop', id, type, max, control, body, ...(when && { when }) });

export const truthy = (key: string): ConditionExpression => ({ kind: 'compare', key, operator: 'truthy' });

export const LOOP_CONTROL = 'wr.contracts.loop_control';

export const decision = (said: 'continue' | 'stop', loopId?: string): JsonObject => ({
  kind: 'wr.loop_control',
  decision: said,
  ...(loopId !== undefined && { loopId }),
});

/** A compiled workflow of the given parts, checked by its schema. */
export function workflow(
  parts: readonly Part[],
  more: Partial<CompiledWorkflowSnapshotV1> = {},
): CompiledWorkflowSnapshotV1 {
  const steps: CompiledStep[] = [];
  const loops: CompiledLoop[] = [];
  const conditions: CompiledCondition[] = [];
  const condition = (expression: ConditionExpression): string => {
    const conditionId = `c${conditions.length}`;
    conditions.push({ conditionId, kind: 'expression', expression } as CompiledCondition);
    return conditionId;
  };
  const program = parts.map(part => place(part, []));
  return compiledWorkflowSnapshotV1.parse({
    schemaVersion: 1,
    workflowId: 'test.workflow',
    name: 'Test',
    description: 'A workflow',
    version: '1.0.0',
    preconditions: [],
    clarificationPrompts: [],
    metaGuidance: [],
    recommendations: {},
    capabilities: { required: [], preferred: [], disabled: [] },
    features: [],
    contracts: [loopControlContract],
    assessments: [],
    references: [],
    functions: [],
    program,
    steps,
    loops,
    compiledWarnings: [],
    ...more,
    conditions: [...conditions, ...(more.conditions ?? [])],
  }) as CompiledWorkflowSnapshotV1;

  function place(part: Part, around: readonly string[]): ProgramEntry {
    const runConditionId = part.when === undefined ? {} : { runConditionId: condition(part.when) };
    if (part.kind === 'step') {
      steps.push({ ...plainStep(part.id), loops: around, ...runConditionId, ...part.more });
      return { kind: 'step', stepId: part.id };
    }
    const { id, control } = part;
    loops.push({
      loopId: id,
      sourceId: id,
      title: id,
      type: part.type,
      maxIterations: part.max,
      control: compiledControl(control, id),
      iterationVar: 'currentIteration',
      itemVar: 'currentItem',
      indexVar: 'currentIndex',
      ...runConditionId,
      loops: around,
      body: part.body.map(inner => place(inner, [...around, id])),
      provenance: { source: 'authored' },
    });
    return { kind: 'loop', loopId: id };
  }

  function compiledControl(control: Control, loopId: string): CompiledLoop['control'] {
    switch (control.by) {
      case 'count':
        return { kind: 'count', count: control.count };
      case 'count_key':
      case 'items_key':
        return { kind: control.by, key: control.key };
      case 'condition':
        return { kind: 'condition_ref', conditionId: condition(control.expression) };
      case 'agent': {
        const conditionId = `c${conditions.length}`;
        conditions.push({ conditionId, kind: 'loop_control', contractRef: LOOP_CONTROL, loopId });
        return { kind: 'condition_ref', conditionId };
      }
    }
  }
}

export function plainStep(stepId: string): CompiledStep {
  return {
    stepId,
    sourceId: stepId,
    title: `Step ${stepId}`,
    kind: 'standard',
    loops: [],
    prompt: `Do ${stepId}.`,
    fragments: [],
    guidance: [],
    askForFiles: false,
    hasValidation: false,
    confirmation: { kind: 'none' },
    assessmentRefs: [],
    assessmentConsequences: [],
    notesRequired: false,
    functions: [],
    functionCalls: [],
    delegations: [],
    provenance: { source: 'authored' },
    injections: [],
  };
}

const loopControlContract: CompiledWorkflowSnapshotV1['contracts'][number] = {
  contractRef: LOOP_CONTROL,
  artifactKind: 'wr.loop_control',
  shape: {
    type: 'object',
    open: false,
    fields: [
      { name: 'loopId', required: false, shape: { type: 'text', min: 1 } },
      { name: 'decision', required: true, shape: { type: 'one_of', values: ['continue', 'stop'] } },
      { name: 'summary', required: false, shape: { type: 'text' } },
    ],
  },
  guidance: ['decision: "continue" or "stop"'],
  example: { kind: 'wr.loop_control', decision: 'stop' },
};

export const situation = (more: Partial<Situation> = {}): Situation => ({
  context: {},
  outputs: [],
  autonomy: 'guided',
  ...more,
});

/** The key of what is pending, or how it ended. */
export function placeOf(next: Next): string {
  if (next.kind === 'blocked') return `blocked: ${next.report.blockers.map(({ code }) => code).join(' ')}`;
  if (next.kind === 'completed') return `completed: ${next.because}`;
  return pendingKey(next.state);
}

export function pendingKey(state: EngineState): string {
  return state.kind === 'running' && state.pending.kind === 'some'
    ? formatStepInstanceKey(state.pending.step)
    : state.kind;
}
