import { type Json, type JsonObject, portableHasher } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import type { CompiledStep, CompiledWorkflowSnapshotV1 } from '../../src/compile/compiled-workflow.ts';
import { bundledPlace, openWorkflowLibrary } from '../../src/index.ts';
import { interpret, type Next } from '../../src/interpret/interpreter.ts';
import { judgeOutput } from '../../src/interpret/output-judgement.ts';
import { renderPrompt } from '../../src/prompts/prompt.ts';
import { type EngineState, engineState } from '../../src/session/execution-snapshot.ts';
import { modePresets } from '../../src/session/preferences.ts';
import { formatStepInstanceKey } from '../../src/session/step-instance-key.ts';
import { byArtifact, decides, loopOf, snapshotOf, stepOf, workflowOf } from '../compile/sources.ts';

const NOTES = 'Did what the step asks, and looked at the result.';

/** An agent that gives what the compiled step asks for, and mends what a blocker says about the context. */
function agentWalk(
  compiled: CompiledWorkflowSnapshotV1,
  start: JsonObject = {},
): { readonly keys: readonly string[]; readonly end: string } {
  let context = start;
  let state: EngineState = { kind: 'init' };
  const outputs: {
    step: { stepId: string; loopPath: { loopId: string; iteration: number }[] };
    artifacts: readonly Json[];
  }[] = [];
  const keys: string[] = [];
  for (let attempt = 0; attempt < 500; attempt++) {
    const facts = { context, outputs, autonomy: 'guided' as const };
    let next: Next;
    if (state.kind !== 'running' || state.pending.kind === 'none') {
      next = taken(interpret(compiled, state, { kind: 'started' }, facts));
    } else {
      const pending = state.pending.step;
      const step = compiled.steps.find(({ stepId }) => stepId === pending.stepId);
      if (step === undefined) throw new Error(pending.stepId);
      const shown = taken(renderPrompt(compiled, state, context, attempt % 2 === 0 ? { earlier: [] } : undefined));
      expect(shown.prompt).not.toContain('{{wr.');
      const artifacts = artifactsFor(compiled, step, pending.loopPath.at(-1)?.iteration ?? 0);
      const answers = [{ reason: 'needs_user_approval', answer: 'approved' }] as const;
      const given = { output: { notes: NOTES, artifacts }, context, preferences: modePresets.guided, answers };
      const judged = taken(judgeOutput(compiled, state, given));
      if (judged.kind === 'blocked') throw new Error(JSON.stringify([formatStepInstanceKey(pending), judged.report]));
      const event = { kind: 'step_completed', key: formatStepInstanceKey(pending), artifacts } as const;
      next = taken(interpret(compiled, state, event, facts));
      if (next.kind !== 'blocked') outputs.push({ step: pending, artifacts });
    }
    if (next.kind === 'blocked') {
      context = { ...context, ...mended(compiled, next) };
      continue;
    }
    state = engineState.parse(next.state);
    if (next.kind === 'completed') return { keys, end: next.because };
    if (state.kind === 'running' && state.pending.kind === 'some') keys.push(formatStepInstanceKey(state.pending.step));
  }
  throw new Error(`no end after ${keys.join(' ')}`);
}

/** One more turn of every loop, then no more. */
function artifactsFor(compiled: CompiledWorkflowSnapshotV1, step: CompiledStep, turn: number): readonly Json[] {
  const example = compiled.contracts.find(({ contractRef }) => contractRef === step.output?.contractRef)?.example;
  const decides = step.output?.contractRef === 'wr.contracts.loop_control';
  const observed = step.probe === undefined ? undefined : { capability: step.probe.capability };
  const own =
    example === undefined
      ? []
      : [{ ...(example as JsonObject), ...observed, ...(decides && { decision: turn === 0 ? 'continue' : 'stop' }) }];
  const assessed = step.assessmentRefs.map(assessmentId => {
    const dimensions = compiled.assessments.find(each => each.assessmentId === assessmentId)?.dimensions ?? [];
    const bad = step.assessmentConsequences.map(({ anyEqualsLevel }) => anyEqualsLevel.toLowerCase());
    const good = (levels: readonly string[]) => levels.find(level => !bad.includes(level.toLowerCase())) ?? '';
    return {
      kind: 'wr.assessment',
      assessmentId,
      dimensions: Object.fromEntries(dimensions.map(({ dimensionId, levels }) => [dimensionId, good(levels)])),
    };
  });
  return [...own, ...assessed];
}

/** A list, a number or a truth for the key that a blocker names. */
function mended(compiled: CompiledWorkflowSnapshotV1, next: Extract<Next, { kind: 'blocked' }>): JsonObject {
  const [blocker] = next.report.blockers;
  const loop = compiled.loops.find(each => blocker?.message.startsWith(`Loop ${each.loopId} `));
  if (blocker?.pointer.kind !== 'context_key' || loop === undefined) throw new Error(JSON.stringify(next.report));
  if (loop.control.kind === 'items_key') return { [loop.control.key]: ['one', 'two'] };
  if (loop.control.kind === 'count_key') return { [loop.control.key]: 2 };
  throw new Error(JSON.stringify(next.report));
}

function taken<T>(
  result: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown },
): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

describe('a workflow as it was compiled', () => {
  it('[W148] that is bundled is walked to its end by an agent that does what it is asked', async () => {
    const library = openWorkflowLibrary({ hasher: portableHasher, places: [bundledPlace] });
    const { workflows } = await library.discover();
    expect(workflows.length).toBeGreaterThan(3);
    for (const { workflowId, compiled } of workflows) {
      if (!compiled.ok) throw new Error(workflowId);
      // What notes must say is an author's wording; everything else is walked as it is.
      const steps = compiled.value.snapshot.steps.map(({ validation: _, ...step }) => step);
      const { keys, end } = agentWalk({ ...compiled.value.snapshot, steps });
      expect([workflowId, keys.length > 0, end]).toEqual([
        workflowId,
        true,
        expect.stringMatching(/all_steps_done|rest_skipped/),
      ]);
    }
  });

  it('[W148] has its loops, derived steps, fragments and conditions as they were written', () => {
    const source = workflowOf([
      stepOf('scope', {
        promptFragments: [{ id: 'deep', when: { var: 'rigor', equals: 'THOROUGH' }, text: 'Take your time.' }],
      }),
      loopOf('review', byArtifact, [
        stepOf('look', { audit: { rubric: ['Is it true?'] } }),
        loopOf('each', { type: 'forEach', maxIterations: 5, items: 'files', itemVar: 'file' }, [
          stepOf('read', { prompt: 'Read {{file}}.' }),
        ]),
        stepOf('decide', decides),
      ]),
      stepOf('skipped', { runCondition: { var: 'rigor', equals: 'QUICK' } }),
      stepOf('end', {
        runCondition: {
          or: [
            { var: 'rigor', equals: 'thorough' },
            { var: 'n', gt: 3 },
          ],
        },
      }),
    ]);
    const turn = (n: number) => [
      `review@${n}::look`,
      `review@${n}::look__audit`,
      `review@${n}/each@0::read`,
      `review@${n}/each@1::read`,
      `review@${n}::decide`,
    ];
    expect(agentWalk(snapshotOf(source), { rigor: ' Thorough' })).toEqual({
      keys: ['scope', ...turn(0), ...turn(1), 'end'],
      end: 'all_steps_done',
    });
  });
});
