import type { Json, JsonObject } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CompiledWorkflowSnapshotV1 } from '../../src/compile/compiled-workflow.ts';
import { interpret, type Next, type Situation } from '../../src/interpret/interpreter.ts';
import { judgeOutput } from '../../src/interpret/output-judgement.ts';
import { renderPrompt } from '../../src/prompts/prompt.ts';
import { blockerReport } from '../../src/session/blockers.ts';
import { traceEntry } from '../../src/session/event-data.ts';
import { type EngineState, engineState } from '../../src/session/execution-snapshot.ts';
import { modePresets } from '../../src/session/preferences.ts';
import {
  formatStepInstanceKey,
  parseStepInstanceKey,
  type StepInstanceKey,
} from '../../src/session/step-instance-key.ts';
import {
  type Control,
  decision,
  loop,
  type Part,
  pendingKey,
  situation,
  step,
  truthy,
  workflow,
} from './workflow-builder.ts';

const KEYS = ['k0', 'k1', 'k2'] as const;

/** Parts without ids; they are numbered afterwards, so that every id is unique. */
type Seed =
  | { readonly kind: 'step'; readonly when: string | undefined }
  | {
      readonly kind: 'loop';
      readonly type: 'while' | 'until' | 'for' | 'forEach';
      readonly max: number;
      readonly control: Control;
      readonly when: string | undefined;
      readonly body: readonly Seed[];
    };

const when = fc.option(fc.constantFrom(...KEYS), { nil: undefined, freq: 2 });
const controlOf = {
  while: fc.oneof(
    fc.constant<Control>({ by: 'agent' }),
    fc.constantFrom(...KEYS).map((key): Control => ({ by: 'condition', expression: truthy(key) })),
  ),
  for: fc.oneof(
    fc.nat(4).map((count): Control => ({ by: 'count', count })),
    fc.constant<Control>({ by: 'count_key', key: 'n' }),
  ),
  forEach: fc.constant<Control>({ by: 'items_key', key: 'items' }),
};
const seeds = fc.letrec<{ part: Seed; parts: readonly Seed[] }>(tie => ({
  part: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'loops' },
    when.map((key): Seed => ({ kind: 'step', when: key })),
    fc.constantFrom('while', 'until', 'for', 'forEach').chain(type =>
      fc.record({
        kind: fc.constant('loop' as const),
        type: fc.constant(type),
        max: fc.integer({ min: 1, max: 3 }),
        control: type === 'until' ? controlOf.while : controlOf[type],
        when,
        body: tie('parts'),
      }),
    ),
  ),
  parts: fc.array(tie('part'), { maxLength: 3, depthIdentifier: 'loops' }),
})).parts;

function named(of: readonly Seed[], prefix = 'p'): readonly Part[] {
  return of.map((seed, at) => {
    const id = `${prefix}-${at}`;
    const wanted = seed.when === undefined ? undefined : truthy(seed.when);
    if (seed.kind === 'step') return step(id, {}, wanted);
    return loop(id, seed.type, seed.max, seed.control, named(seed.body, id), wanted);
  });
}

/** How many step instances there can be. */
function instances(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + (part.kind === 'step' ? 1 : part.max * instances(part.body)), 0);
}

interface Doing {
  readonly artifacts: readonly Json[];
  readonly context: JsonObject;
}

const artifact = fc.constantFrom<Json>(
  decision('continue'),
  decision('stop'),
  { kind: 'wr.loop_control' },
  'noise',
  null,
);
const fullContext = fc.record({
  k0: fc.boolean(),
  k1: fc.boolean(),
  k2: fc.boolean(),
  n: fc.nat(4),
  items: fc.array(fc.nat(), { maxLength: 4 }),
});
const anyContext = fc.record(
  {
    k0: fc.oneof(fc.boolean(), fc.constant(null)),
    k1: fc.boolean(),
    k2: fc.boolean(),
    n: fc.oneof(fc.nat(4), fc.constant('x')),
    items: fc.oneof(fc.array(fc.nat(), { maxLength: 4 }), fc.constant(3)),
  },
  { requiredKeys: [] },
);
const doing = (context: fc.Arbitrary<JsonObject>): fc.Arbitrary<Doing> =>
  fc.record({ artifacts: fc.array(artifact, { maxLength: 2 }), context });
const script = (context: fc.Arbitrary<JsonObject>) => fc.array(doing(context), { minLength: 1, maxLength: 12 });

interface Walked {
  readonly keys: readonly string[];
  readonly nexts: readonly Next[];
  readonly ended: boolean;
}

/** Walks with a script that begins again when it is over, for at most so many attempts. */
function walk(
  compiled: CompiledWorkflowSnapshotV1,
  doings: readonly Doing[],
  autonomy: Situation['autonomy'],
  attempts: number,
): Walked {
  let now = situation({ autonomy, context: doings[0]?.context ?? {} });
  let state: EngineState = { kind: 'init' };
  const keys: string[] = [];
  const nexts: Next[] = [];
  for (let attempt = 0; attempt <= attempts; attempt++) {
    const did = doings[attempt % doings.length] ?? { artifacts: [], context: {} };
    now = { ...now, context: { ...now.context, ...did.context } };
    const key = pendingKey(state) as StepInstanceKey;
    const event =
      state.kind === 'init'
        ? ({ kind: 'started' } as const)
        : ({ kind: 'step_completed', key, artifacts: did.artifacts } as const);
    const once = interpret(compiled, state, event, now);
    expect(interpret(structuredClone(compiled), structuredClone(state), event, structuredClone(now))).toEqual(once);
    if (!once.ok) throw new Error(`${once.error.code}: ${once.error.reason}`);
    const next = once.value;
    nexts.push(next);
    checkTrace(state, next);
    if (next.kind === 'blocked') {
      expect(blockerReport.parse(next.report)).toEqual(next.report);
      continue;
    }
    const instance = parseStepInstanceKey(key);
    if (state.kind === 'running' && instance.ok) {
      now = { ...now, outputs: [...now.outputs, { step: instance.value, artifacts: did.artifacts }] };
    }
    state = engineState.parse(next.state);
    if (next.kind === 'completed') return { keys, nexts, ended: true };
    keys.push(pendingKey(state));
  }
  return { keys, nexts, ended: false };
}

/** The trace is within its budget, ends with the choice, and its loops lead from the old stack to the new one. */
function checkTrace(before: EngineState, next: Next): void {
  for (const entry of next.trace) expect(traceEntry.parse(entry)).toEqual(entry);
  expect(next.trace.length).toBeLessThanOrEqual(25);
  if (next.kind === 'blocked') return;
  expect(next.trace.at(-1)?.kind).toBe('selected_next_step');
  if (next.trace.some(({ summary }) => summary.includes('[TRUNCATED]'))) return;
  const stack = before.kind === 'running' ? before.loopStack.map(({ loopId }) => loopId) : [];
  const asked = new Set<string>();
  for (const { kind, refs = [] } of next.trace) {
    const ref = refs.find(each => each.kind === 'loop_id');
    const loopId = ref?.kind === 'loop_id' ? ref.loopId : undefined;
    if (loopId === undefined) continue;
    if (kind === 'evaluated_condition') asked.add(loopId);
    if (kind === 'entered_loop' || kind === 'exited_loop') expect(asked.has(loopId)).toBe(true);
    if (kind === 'entered_loop') stack.push(loopId);
    if (kind === 'exited_loop' && stack.at(-1) === loopId) stack.pop();
  }
  const after = next.state.kind === 'running' ? next.state.loopStack.map(({ loopId }) => loopId) : [];
  expect(stack).toEqual(after);
}

/** The same semantics, written as a plain recursion: what a person would expect of the parts. */
function* expected(parts: readonly Part[], path: string, world: World): Generator<string, void, undefined> {
  for (const part of parts) {
    if (part.when?.kind === 'compare' && !world.context[part.when.key]) continue;
    if (part.kind === 'step') {
      yield path === '' ? part.id : `${path}::${part.id}`;
      continue;
    }
    for (let turn = 0; turn < part.max; turn++) {
      const here = `${path === '' ? '' : `${path}/`}${part.id}@${turn}`;
      if (!wants(part, turn, world, `${path === '' ? '' : `${path}/`}${part.id}@${turn - 1}`)) break;
      yield* expected(part.body, here, world);
    }
  }
}

interface World {
  context: JsonObject;
  readonly said: Map<string, 'continue' | 'stop'>;
}

function wants(part: Extract<Part, { kind: 'loop' }>, turn: number, { context, said }: World, before: string): boolean {
  const { control } = part;
  switch (control.by) {
    case 'count':
      return turn < control.count;
    case 'count_key':
      return turn < Number(context[control.key]);
    case 'items_key':
      return turn < (context[control.key] as readonly Json[]).length;
    case 'condition':
      return (
        control.expression.kind === 'compare' && Boolean(context[control.expression.key]) === (part.type !== 'until')
      );
    case 'agent':
      return turn === 0 || said.get(before) !== 'stop';
  }
}

function modelled(parts: readonly Part[], doings: readonly Doing[]): readonly string[] {
  const world: World = { context: doings[0]?.context ?? {}, said: new Map() };
  const keys: string[] = [];
  for (const key of expected(parts, '', world)) {
    keys.push(key);
    const did = doings[keys.length % doings.length];
    world.context = { ...world.context, ...did?.context };
    const said = did?.artifacts.flatMap(given =>
      given === null || typeof given !== 'object' || !('decision' in given) ? [] : [given.decision],
    );
    const last = said?.at(-1);
    const path = key.split('::').slice(0, -1).join('');
    if (last === 'continue' || last === 'stop') world.said.set(path, last);
  }
  return keys;
}

describe('any workflow, with any outcomes', () => {
  it('[W146] that never stops completes within its limits and repeats nothing', () => {
    fc.assert(
      fc.property(seeds, script(anyContext), (of, doings) => {
        const parts = named(of);
        const bound = instances(parts);
        const { keys, ended } = walk(workflow(parts), doings, 'full_auto_never_stop', bound + 1);
        expect(ended).toBe(true);
        expect(new Set(keys).size).toBe(keys.length);
        expect(keys.length).toBeLessThanOrEqual(bound);
      }),
      { numRuns: 300 },
    );
  });

  it('[W146] that may stop repeats nothing, blocks by name, and is where it was after a block', () => {
    fc.assert(
      fc.property(
        seeds,
        script(anyContext),
        fc.constantFrom('guided', 'full_auto_stop_on_user_deps'),
        (of, doings, autonomy) => {
          const parts = named(of);
          const { keys, nexts } = walk(workflow(parts), doings, autonomy, 30);
          expect(new Set(keys).size).toBe(keys.length);
          expect(nexts.filter(next => next.kind !== 'blocked').flatMap(next => next.gaps)).toEqual([]);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('[W147] goes where a plain recursion over its parts goes', () => {
    fc.assert(
      fc.property(seeds, script(fullContext), (of, doings) => {
        const parts = named(of);
        const { keys } = walk(workflow(parts), doings, 'full_auto_never_stop', instances(parts) + 1);
        expect(keys).toEqual(modelled(parts, doings));
      }),
      { numRuns: 400 },
    );
  });
});

describe('any snapshot', () => {
  const id = fc.constantFrom('p-0', 'p-1', 'p-0-0', 'p-0-1', 'p-0-0-0', 'gone');
  const turns = fc.uniqueArray(fc.record({ loopId: id, iteration: fc.nat(4), bodyIndex: fc.nat(3) }), {
    maxLength: 3,
    selector: frame => frame.loopId,
  });
  const anyState: fc.Arbitrary<EngineState> = fc
    .record({ loopStack: turns, stepId: id, done: fc.uniqueArray(id, { maxLength: 3 }), none: fc.boolean() })
    .map(({ loopStack, stepId, done, none }) => {
      const instance = { stepId, loopPath: loopStack.map(({ loopId, iteration }) => ({ loopId, iteration })) };
      const values = done.filter(key => key !== formatStepInstanceKey(instance)).sort();
      const pending = none ? { kind: 'none' } : { kind: 'some', step: instance };
      return engineState.parse({ kind: 'running', completed: { kind: 'set', values }, loopStack, pending });
    });

  it('[W132] is answered or named, never thrown at', () => {
    fc.assert(
      fc.property(seeds, anyState, doing(anyContext), (of, state, did) => {
        const compiled = workflow(named(of));
        const key = pendingKey(state) as StepInstanceKey;
        const next = interpret(
          compiled,
          state,
          { kind: 'step_completed', key, artifacts: did.artifacts },
          situation({ context: did.context }),
        );
        expect(next.ok || next.error.reason !== '').toBe(true);
        if (state.kind !== 'running') return;
        const given = { output: { artifacts: did.artifacts }, context: did.context, preferences: modePresets.guided };
        const judged = judgeOutput(compiled, state, given);
        expect(judged.ok || judged.error.reason !== '').toBe(true);
        const shown = renderPrompt(compiled, state, did.context);
        expect(shown.ok || shown.error.reason !== '').toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
