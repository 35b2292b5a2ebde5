import type { Json, JsonObject } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import type { CompiledWorkflowSnapshotV1 } from '../../src/compile/compiled-workflow.ts';
import { interpret, type Next, type Situation } from '../../src/interpret/interpreter.ts';
import type { StepOutput } from '../../src/interpret/loop-decision.ts';
import { completedSet, type EngineState, engineState } from '../../src/session/execution-snapshot.ts';
import { parseStepInstanceKey, type StepInstanceKey } from '../../src/session/step-instance-key.ts';
import {
  decision,
  LOOP_CONTROL,
  loop,
  pendingKey,
  placeOf,
  situation,
  step,
  truthy,
  workflow,
} from './workflow-builder.ts';

/** The agent’s output at each step, in turn: artifacts, and context from then on. */
type Doing = { readonly artifacts?: readonly Json[]; readonly context?: JsonObject };

/** Walks until the script or the workflow ends, and gives the places on the way. */
function walk(
  compiled: CompiledWorkflowSnapshotV1,
  doings: readonly Doing[],
  start: Partial<Situation> = {},
): { readonly places: readonly string[]; readonly last: Next } {
  let now = situation(start);
  let last = taken(interpret(compiled, { kind: 'init' }, { kind: 'started' }, now));
  const places = [placeOf(last)];
  for (const { artifacts = [], context = {} } of doings) {
    if (last.kind !== 'advanced') break;
    now = { ...now, context: { ...now.context, ...context } };
    const key = pendingKey(last.state) as StepInstanceKey;
    const next = taken(interpret(compiled, last.state, { kind: 'step_completed', key, artifacts }, now));
    const instance = parseStepInstanceKey(key);
    if (instance.ok)
      now = { ...now, outputs: [...now.outputs, { step: instance.value, artifacts } satisfies StepOutput] };
    places.push(placeOf(next));
    last = next;
  }
  return { places, last };
}

function taken(result: ReturnType<typeof interpret>): Next {
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.reason}`);
  return result.value;
}

const times = (count: number, doing: Doing = {}): readonly Doing[] => Array.from({ length: count }, () => doing);
const traceOf = (next: Next) => next.trace.map(({ kind, summary }) => `${kind}: ${summary}`);

describe('steps', () => {
  it('[W120] come in program order, and the end is said', () => {
    expect(walk(workflow([step('a'), step('b')]), times(2)).places).toEqual(['a', 'b', 'completed: all_steps_done']);
  });

  it('[W121] are skipped when their condition does not hold, which the trace tells', () => {
    const { places, last } = walk(workflow([step('a'), step('b', {}, truthy('wanted')), step('c')]), times(1));
    expect(places).toEqual(['a', 'c']);
    expect(traceOf(last)).toEqual([
      'evaluated_condition: Step b: skipped, its condition does not hold.',
      'selected_next_step: c is next.',
    ]);
  });

  it('[W121] run when the context that the agent sent makes their condition hold', () => {
    const compiled = workflow([step('a'), step('b', {}, truthy('wanted'))]);
    expect(walk(compiled, [{ context: { wanted: 'yes' } }]).places).toEqual(['a', 'b']);
  });

  it('[W122] block, or are run with a gap, when their condition cannot be told', () => {
    const compiled = workflow([
      step('a'),
      step('b', {}, { kind: 'compare', key: 'fileCount', operator: 'gt', value: 3 }),
    ]);
    const { last } = walk(compiled, [{ context: { fileCount: 'many' } }]);
    expect(last).toMatchObject({
      kind: 'blocked',
      report: {
        blockers: [
          {
            code: 'INVALID_REQUIRED_OUTPUT',
            pointer: { kind: 'context_key', key: 'file_count' },
            message: 'Step b cannot tell its condition: gt wants a number, and fileCount is "many".',
          },
        ],
      },
    });
    expect(walk(compiled, times(1)).places).toEqual(['a', 'blocked: MISSING_REQUIRED_OUTPUT']);
    const never = walk(compiled, times(1), { autonomy: 'full_auto_never_stop' });
    expect(never.places).toEqual(['a', 'b']);
    expect(never.last).toMatchObject({
      gaps: [{ severity: 'critical', reason: { category: 'contract_violation', detail: 'missing_required_output' } }],
    });
  });

  it('[W123] that conditions leave out to the last are said, not passed over', () => {
    const none = walk(
      workflow([step('a', {}, truthy('x')), loop('l', 'for', 3, { by: 'count', count: 0 }, [step('b')])]),
      [],
    );
    expect(none.last).toMatchObject({ kind: 'completed', because: 'nothing_ran', skipped: 1 });
    expect(traceOf(none.last).at(-1)).toContain('Complete without a step');
    const rest = walk(workflow([step('a'), step('b', {}, truthy('x'))]), times(1));
    expect(rest.last).toMatchObject({ kind: 'completed', because: 'rest_skipped', skipped: 1 });
  });
});

describe('loops', () => {
  it('[W124] of every kind turn as often as they are told', () => {
    const body = [step('b')];
    const turns = ['l@0::b', 'l@1::b', 'completed: all_steps_done'];
    const fixed = workflow([loop('l', 'for', 5, { by: 'count', count: 2 }, body)]);
    const named = workflow([loop('l', 'for', 5, { by: 'count_key', key: 'n' }, body)]);
    const items = workflow([loop('l', 'forEach', 5, { by: 'items_key', key: 'files' }, body)]);
    const asLong = workflow([loop('l', 'while', 5, { by: 'condition', expression: truthy('more') }, body)]);
    const until = workflow([loop('l', 'until', 5, { by: 'condition', expression: truthy('done') }, body)]);
    const said = workflow([loop('l', 'while', 5, { by: 'agent' }, body)]);
    expect(walk(fixed, times(2)).places).toEqual(turns);
    expect(walk(named, times(2), { context: { n: 2 } }).places).toEqual(turns);
    expect(walk(items, times(2), { context: { files: ['x', 'y'] } }).places).toEqual(turns);
    const two = [{ context: { more: true } }, { context: { more: false } }];
    expect(walk(asLong, two, { context: { more: true } }).places).toEqual(turns);
    expect(walk(until, [{ context: { done: false } }, { context: { done: 'yes' } }]).places).toEqual(turns);
    expect(walk(said, [{ artifacts: [decision('continue')] }, { artifacts: [decision('stop')] }]).places).toEqual(
      turns,
    );
  });

  it('[W125] nest, and each turn of the outer begins the inner at 0', () => {
    const inner = loop('in', 'for', 3, { by: 'count', count: 2 }, [step('b')]);
    const compiled = workflow([loop('out', 'for', 3, { by: 'count', count: 2 }, [step('a'), inner]), step('z')]);
    expect(walk(compiled, times(6)).places).toEqual([
      'out@0::a',
      'out@0/in@0::b',
      'out@0/in@1::b',
      'out@1::a',
      'out@1/in@0::b',
      'out@1/in@1::b',
      'z',
    ]);
  });

  it('[W126] see their number, their item and its index, the inner before the outer', () => {
    const only = (key: string, value: Json) => ({ kind: 'compare', key, operator: 'equals', value }) as const;
    const compiled = workflow([
      loop('l', 'forEach', 9, { by: 'items_key', key: 'files' }, [
        step('first', {}, only('currentIndex', 0)),
        step('second', {}, only('currentIteration', 2)),
        step('named', {}, only('currentItem', 'z')),
        loop('in', 'for', 9, { by: 'count', count: 1 }, [step('inner', {}, only('currentIteration', 1))]),
      ]),
    ]);
    expect(walk(compiled, times(6), { context: { files: ['x', 'y', 'z'] } }).places).toEqual([
      'l@0::first',
      'l@0/in@0::inner',
      'l@1::second',
      'l@1/in@0::inner',
      'l@2::named',
      'l@2/in@0::inner',
      'completed: all_steps_done',
    ]);
  });

  it('[W127] are traced whole: entered, each condition, left; also when they had no turn', () => {
    const compiled = workflow([
      loop('none', 'for', 3, { by: 'count', count: 0 }, [step('x')]),
      loop('not', 'for', 3, { by: 'count', count: 2 }, [step('y')], truthy('wanted')),
      loop('l', 'for', 3, { by: 'count', count: 1 }, [step('b')]),
    ]);
    expect(traceOf(walk(compiled, []).last)).toEqual([
      'evaluated_condition: Loop none, turn 1 of at most 3: not wanted, all 0 turns are done',
      'exited_loop: Left loop none after 0 turns: all 0 turns are done.',
      'evaluated_condition: Loop not: skipped, its condition does not hold.',
      'exited_loop: Loop not did not run: skipped, its condition does not hold.',
      'evaluated_condition: Loop l, turn 1 of at most 3: wanted, turn 1 of 1',
      'entered_loop: Entered loop l.',
      'selected_next_step: l@0::b is next.',
    ]);
    const ended = walk(compiled, times(1)).last;
    expect(ended.trace.map(({ kind, refs }) => [kind, refs])).toEqual([
      [
        'evaluated_condition',
        [
          { kind: 'loop_id', loopId: 'l' },
          { kind: 'iteration', value: 1 },
        ],
      ],
      [
        'exited_loop',
        [
          { kind: 'loop_id', loopId: 'l' },
          { kind: 'iteration', value: 1 },
        ],
      ],
      ['selected_next_step', undefined],
    ]);
  });

  it('[W128] asked past their limit block with the loop, the iteration and the limit; or leave with a gap', () => {
    const compiled = workflow([loop('l', 'while', 2, { by: 'agent' }, [step('b')]), step('z')]);
    const on = times(2, { artifacts: [decision('continue')] });
    const details = { loopId: 'l', iteration: 2, maxIterations: 2 };
    const blocked = walk(compiled, on);
    expect(blocked.places).toEqual(['l@0::b', 'l@1::b', 'blocked: INVARIANT_VIOLATION']);
    expect(blocked.last).toMatchObject({
      report: { blockers: [{ pointer: { kind: 'workflow_step', stepId: 'l' }, details }] },
    });
    const never = walk(compiled, on, { autonomy: 'full_auto_never_stop' });
    expect(never.places).toEqual(['l@0::b', 'l@1::b', 'z']);
    expect(never.last).toMatchObject({
      gaps: [{ reason: { category: 'unexpected', detail: 'invariant_violation' }, details }],
    });
    const items = workflow([loop('l', 'forEach', 2, { by: 'items_key', key: 'files' }, [step('b')])]);
    expect(walk(items, times(2), { context: { files: [1, 2, 3] } }).places.at(-1)).toBe('blocked: INVARIANT_VIOLATION');
  });

  it('[W129] are not ended by a decision that is missing or not valid', () => {
    const compiled = workflow([loop('l', 'while', 3, { by: 'agent' }, [step('b')]), step('z')]);
    const pointer = { kind: 'output_contract', contractRef: LOOP_CONTROL };
    const missing = walk(compiled, times(1)).last;
    expect(missing).toMatchObject({ report: { blockers: [{ code: 'MISSING_REQUIRED_OUTPUT', pointer }] } });
    const wrong = walk(compiled, [{ artifacts: [{ kind: 'wr.loop_control', decision: 'maybe' }] }]).last;
    expect(wrong).toMatchObject({ report: { blockers: [{ code: 'INVALID_REQUIRED_OUTPUT', pointer }] } });
    const other = walk(compiled, [{ artifacts: [decision('stop', 'elsewhere')] }]).last;
    expect(other).toMatchObject({ report: { blockers: [{ code: 'INVALID_REQUIRED_OUTPUT', pointer }] } });
    const never = walk(compiled, times(3), { autonomy: 'full_auto_never_stop' });
    expect(never.places).toEqual(['l@0::b', 'l@1::b', 'l@2::b', 'z']);
  });

  it('[W129] take the newest valid decision of their own turn, not one of an inner loop', () => {
    const inner = loop('in', 'while', 3, { by: 'agent' }, [step('b')]);
    const compiled = workflow([loop('out', 'while', 3, { by: 'agent' }, [step('a'), inner, step('c')]), step('z')]);
    const places = walk(compiled, [
      { artifacts: [decision('stop'), decision('continue', 'out')] },
      { artifacts: [decision('stop')] },
      {},
      { artifacts: [decision('stop')] },
      { artifacts: [decision('stop', 'in')] },
      {},
    ]).places;
    expect(places).toEqual(['out@0::a', 'out@0/in@0::b', 'out@0::c', 'out@1::a', 'out@1/in@0::b', 'out@1::c', 'z']);
  });

  it('[W130] by context block while their key is missing or of another kind', () => {
    const asLong = workflow([
      step('a'),
      loop('l', 'while', 3, { by: 'condition', expression: truthy('goOn') }, [step('b')]),
    ]);
    const until = workflow([loop('l', 'until', 3, { by: 'condition', expression: truthy('done') }, [step('b')])]);
    const items = workflow([step('a'), loop('l', 'forEach', 3, { by: 'items_key', key: 'files' }, [step('b')])]);
    const count = workflow([step('a'), loop('l', 'for', 3, { by: 'count_key', key: 'n' }, [step('b')])]);
    expect(walk(asLong, times(1)).last).toMatchObject({
      report: { blockers: [{ code: 'MISSING_REQUIRED_OUTPUT', pointer: { kind: 'context_key', key: 'go_on' } }] },
    });
    expect(walk(until, times(1)).places).toEqual(['l@0::b', 'blocked: MISSING_REQUIRED_OUTPUT']);
    expect(walk(items, times(1)).places).toEqual(['a', 'blocked: MISSING_REQUIRED_OUTPUT']);
    expect(walk(items, [{ context: { files: 'x' } }]).places).toEqual(['a', 'blocked: INVALID_REQUIRED_OUTPUT']);
    expect(walk(count, [{ context: { n: 1.5 } }]).places).toEqual(['a', 'blocked: INVALID_REQUIRED_OUTPUT']);
    const never = { autonomy: 'full_auto_never_stop' } as const;
    expect(walk(asLong, times(4), never).places).toEqual([
      'a',
      'l@0::b',
      'l@1::b',
      'l@2::b',
      'completed: all_steps_done',
    ]);
    const nothing = walk(items, times(1), never).last;
    expect(nothing).toMatchObject({ kind: 'completed', gaps: [{ reason: { detail: 'missing_required_output' } }] });
  });

  it('[W131] whose steps are all skipped end: blocked by name, or left with a gap', () => {
    const body = [step('b', {}, truthy('never'))];
    const deep = loop('in', 'for', 10_000, { by: 'count', count: 10_000 }, body);
    const compiled = workflow([loop('out', 'for', 10_000, { by: 'count', count: 10_000 }, [deep]), step('z')]);
    const blocked = walk(compiled, []).last;
    expect(blocked).toMatchObject({
      report: { blockers: [{ code: 'INVARIANT_VIOLATION', details: { loopId: 'in' } }] },
    });
    const never = walk(compiled, [], { autonomy: 'full_auto_never_stop' });
    expect(never.places).toEqual(['z']);
    expect(traceOf(never.last).slice(-2)).toEqual([
      expect.stringContaining('[TRUNCATED]'),
      'selected_next_step: z is next.',
    ]);
    expect(never.last.trace.length).toBe(25);
  });
});

describe('a snapshot that does not fit', () => {
  const compiled = workflow([step('a'), loop('l', 'for', 3, { by: 'count', count: 2 }, [step('b'), step('c')])]);
  const running = (
    stepId: string,
    loopStack: readonly { loopId: string; iteration: number; bodyIndex: number }[] = [],
    completed: readonly string[] = [],
  ): EngineState =>
    engineState.parse({
      kind: 'running',
      completed: completedSet(completed as readonly StepInstanceKey[]),
      loopStack,
      pending: {
        kind: 'some',
        step: { stepId, loopPath: loopStack.map(({ loopId, iteration }) => ({ loopId, iteration })) },
      },
    });
  const frame = { loopId: 'l', iteration: 0, bodyIndex: 0 };
  const nothing = engineState.parse({ ...running('a'), pending: { kind: 'none' } });

  it.each<readonly [code: string, state: EngineState, key: string]>([
    ['unknown_step', running('gone'), 'gone'],
    ['unknown_step', running('a', [], ['gone']), 'a'],
    ['unknown_loop', running('b', [{ ...frame, loopId: 'gone' }]), 'gone@0::b'],
    ['wrong_place', running('b'), 'b'],
    ['wrong_place', running('a', [frame]), 'l@0::a'],
    ['wrong_place', running('b', [{ ...frame, bodyIndex: 1 }]), 'l@0::b'],
    ['wrong_place', running('b', [{ ...frame, bodyIndex: 99 }]), 'l@0::b'],
    ['iteration_over_limit', running('b', [{ ...frame, iteration: 3 }]), 'l@3::b'],
    ['no_pending_step', nothing, 'a'],
    ['no_pending_step', { kind: 'init' }, 'a'],
    ['not_the_pending_step', running('a'), 'b'],
    ['completed_already', running('b', [frame], ['l@0::c']), 'l@0::b'],
    ['already_complete', { kind: 'complete' }, 'a'],
  ])('[W132] is the error %s', (code, state, key) => {
    const event = { kind: 'step_completed', key: key as StepInstanceKey, artifacts: [] } as const;
    expect(interpret(compiled, state, event, situation())).toMatchObject({ ok: false, error: { code } });
  });

  it('[W132] is the error already_started, or one of a workflow that names what it has not', () => {
    const start = (of: CompiledWorkflowSnapshotV1, state: EngineState = { kind: 'init' }) =>
      interpret(of, state, { kind: 'started' }, situation());
    expect(start(compiled, running('a'))).toMatchObject({ ok: false, error: { code: 'already_started' } });
    expect(start({ ...compiled, steps: [] })).toMatchObject({ ok: false, error: { code: 'unknown_step', id: 'a' } });
    const looping = workflow([loop('l', 'while', 3, { by: 'agent' }, [step('b')])]);
    expect(start({ ...looping, conditions: [] })).toMatchObject({ ok: false, error: { code: 'unknown_condition' } });
    expect(start({ ...looping, loops: [] })).toMatchObject({ ok: false, error: { code: 'unknown_loop', id: 'l' } });
  });
});
