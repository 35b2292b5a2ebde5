import { portableHasher, utf8Length } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { refSnippet, refSnippets } from '../../src/compile/builtins/refs.ts';
import { limits } from '../../src/compile/limits.ts';
import { problemsOf, snapshotOf, stepOf, workflowOf } from './sources.ts';

const blocksStep = (promptBlocks: unknown, more = {}) => ({ id: 's', title: 'S', promptBlocks, ...more });
const ref = (name: string) => ({ kind: 'ref', refId: `wr.refs.${name}` });

it('[W13] prompt blocks render as sections, and an empty one is left out', () => {
  const source = workflowOf([
    blocksStep({
      verify: ['It works.'],
      outputRequired: {
        z: 'last',
        a: [
          { kind: 'text', text: 'fi' },
          { kind: 'text', text: 'rst' },
        ],
      },
      procedure: ['One.', 'Two.'],
      constraints: [],
      goal: 'Know it.',
    }),
  ]);
  expect(snapshotOf(source).steps[0]?.prompt).toBe(
    '## Goal\nKnow it.\n\n## Procedure\n1. One.\n2. Two.\n\n## Output Required\n- **a**: first\n- **z**: last\n\n## Verify\n- It works.',
  );
});

describe('[W11] a ref', () => {
  it('is embedded with its digest, its bytes and its place', () => {
    const step = snapshotOf(
      workflowOf([blocksStep({ goal: [{ kind: 'text', text: 'Mind: ' }, ref('evidence_first')] })]),
    ).steps[0];
    const text = refSnippet('wr.refs.evidence_first')?.text ?? '';
    const contentHash = portableHasher(text);
    expect(step?.prompt).toBe(`## Goal\nMind: ${text}`);
    expect(step?.injections).toEqual([
      { kind: 'ref', id: 'wr.refs.evidence_first', contentHash, bytes: utf8Length(text), placement: 'goal' },
    ]);
    expect(step?.promptBlocks?.goal?.[1]).toEqual({
      kind: 'ref',
      refId: 'wr.refs.evidence_first',
      refContentHash: contentHash,
      text,
    });
  });

  it('is refused where it is unknown, in the wrong place, or too much', () => {
    const many = Array.from({ length: 40 }, () => [ref('evidence_first')]);
    const source = workflowOf([
      blocksStep({ goal: [ref('evidence_frist')], outputRequired: { x: [ref('evidence_first')] } }),
      { ...blocksStep({ constraints: many }), id: 't' },
    ]);
    expect(problemsOf(source)).toEqual([
      ['ref_unknown', '/steps/0/promptBlocks/goal/0/refId'],
      ['ref_placement', '/steps/0/promptBlocks/outputRequired/x/0/refId'],
      ['ref_budget', '/steps/1/promptBlocks'],
    ]);
  });

  it('fits its own budget', () => {
    expect(refSnippets.filter(each => utf8Length(each.text) > limits.refBytes)).toEqual([]);
  });
});

describe('[W12] a binding', () => {
  const points = { extensionPoints: [{ slotId: 'check', purpose: 'p', default: 'wr.routine-a' }, { slotId: 'bare' }] };

  it('is what the slot is bound to, else its default', () => {
    const source = workflowOf([stepOf('s', { prompt: 'Use {{wr.bindings.check}} on {{a.b}}.' })], points);
    expect(snapshotOf(source).steps[0]?.prompt).toBe('Use wr.routine-a on {{a.b}}.');
    const bindings = new Map([['check', 'team.own']]);
    expect(snapshotOf(source, { bindings }).steps[0]?.prompt).toBe('Use team.own on {{a.b}}.');
  });

  it('that resolves to nothing is a problem, and so is any other {{wr.', () => {
    const source = workflowOf(
      [
        stepOf('s', { prompt: '{{wr.bindings.chekc}}' }),
        stepOf('t', { guidance: ['ok', '{{ wr.other }}'] }),
        stepOf('u', { prompt: '{{wr.bindings.bare}}' }),
      ],
      points,
    );
    expect(problemsOf(source)).toEqual([
      ['binding_unknown', '/steps/0/prompt'],
      ['binding_unresolved', '/steps/1/guidance/1'],
      ['binding_unknown', '/steps/2/prompt'],
    ]);
  });
});

it('[W14] a feature adds its text to blocks as constraints and to other steps as guidance, in the order of ids', () => {
  const features = ['wr.features.subagent_guidance', 'wr.features.capabilities', 'wr.features.subagent_guidance'];
  const { steps, features: resolved } = snapshotOf(workflowOf([blocksStep({ goal: 'g' }), stepOf('t')], { features }));
  expect(resolved.map(each => each.featureId)).toEqual(['wr.features.capabilities', 'wr.features.subagent_guidance']);
  const added = steps[1]?.guidance ?? [];
  expect(added.length).toBeGreaterThan(1);
  expect(steps[0]?.promptBlocks?.constraints).toEqual(added.map(text => [{ kind: 'text', text }]));
  expect(steps.map(step => step.injections.map(each => [each.id, each.placement]))).toEqual([
    [
      ['wr.features.capabilities', 'constraints'],
      ['wr.features.subagent_guidance', 'constraints'],
    ],
    [
      ['wr.features.capabilities', 'guidance'],
      ['wr.features.subagent_guidance', 'guidance'],
    ],
  ]);
  expect(
    problemsOf(
      workflowOf([stepOf('s')], {
        features: ['wr.features.x', { id: 'wr.features.capabilities', config: { required: ['flying'] } }],
      }),
    ),
  ).toEqual([
    ['feature_unknown', '/features/0'],
    ['feature_config', '/features/1'],
  ]);
});

it('[W16] audit, verification and synthesis add steps after their own, under the same condition', () => {
  const parallel = {
    id: 'p',
    type: 'parallel',
    title: 'P',
    runCondition: { var: 'wide' },
    parallelDelegations: [{ workflowId: 'wr.routine-a' }],
    synthesis: { outputContract: { contractRef: 'wr.contracts.gate_verdict' } },
    audit: { rubric: ['Complete', 'True'] },
    verification: { command: 'npm test' },
  };
  const { steps } = snapshotOf(workflowOf([parallel, stepOf('s', { verification: {}, audit: { prompt: 'Look.' } })]));
  expect(steps.map(step => [step.stepId, step.kind, step.derivedFrom, step.runConditionId])).toEqual([
    ['p', 'parallel', undefined, 'run_p'],
    ['p__synthesis', 'synthesis', 'p', 'run_p'],
    ['p__audit', 'audit', 'p', 'run_p'],
    ['p__verification', 'verification', 'p', 'run_p'],
    ['s', 'standard', undefined, undefined],
    ['s__audit', 'audit', 's', undefined],
    ['s__verification', 'verification', 's', undefined],
  ]);
  expect(steps[1]?.output).toEqual({ contractRef: 'wr.contracts.gate_verdict', required: true });
  expect(steps[2]?.prompt).toContain('- Complete\n- True');
  expect(steps[3]?.prompt).toContain('    npm test');
  expect(steps[5]?.prompt).toBe('Look.');
});

it('[W30] a parallel step tells the agent to delegate all at once, and never by starting a workflow', () => {
  const { steps, capabilities } = snapshotOf(
    workflowOf([
      {
        id: 'p',
        type: 'parallel',
        title: 'P',
        prompt: 'Three views.',
        parallelDelegations: [
          {
            workflowId: 'wr.routine-a',
            goal: 'First',
            contextMapping: { to: 'from.here' },
            args: { b: 1, a: 2 },
            modelTier: 'mid',
            allowedTools: ['read'],
          },
          { workflowId: 'wr.routine-b', runCondition: { var: 'more' } },
        ],
      },
    ]),
  );
  const [step] = steps;
  expect(step?.prompt).toMatch(/^Three views\.\n\n[\s\S]*SPAWN SUBAGENTS[\s\S]*IN PARALLEL[\s\S]*one response/);
  expect(step?.fragments.map(({ fragmentId, conditionId }) => [fragmentId, conditionId])).toEqual([
    ['wr-delegation-1', undefined],
    ['wr-delegation-2', 'delegation_1_p'],
    ['wr-delegation-rules', undefined],
  ]);
  expect(step?.fragments[0]?.text).toBe(
    '**Subagent 1: wr.routine-a**\n- Task: follow the routine wr.routine-a and return its result\n- Goal: First\n- to: {{from.here}}\n- Arguments: {"a":2,"b":1}\n- Model: mid\n- Tools it may use: read',
  );
  expect(step?.fragments[2]?.text).toContain('DO NOT start a workflow session');
  expect(step?.delegations.map(each => each.workflowId)).toEqual(['wr.routine-a', 'wr.routine-b']);
  expect(capabilities).toEqual({ required: [], preferred: ['delegation'], disabled: [] });
});

describe('[W17] a required capability', () => {
  const needs = (config: unknown) => ({ features: [{ id: 'wr.features.capabilities', config }] });

  it('is probed by a step before all others', () => {
    const { program, steps, capabilities, contracts } = snapshotOf(
      workflowOf([stepOf('s')], needs({ required: ['web_browsing', 'delegation'] })),
    );
    expect(program.map(entry => entry.kind === 'step' && entry.stepId)).toEqual([
      'wr_probe_delegation',
      'wr_probe_web_browsing',
      's',
    ]);
    expect(steps[1]?.probe).toEqual({ capability: 'web_browsing', templateId: 'wr.templates.capability_probe' });
    expect(steps[1]?.provenance).toEqual({ source: 'feature_injected', originId: 'wr.features.capabilities' });
    expect(capabilities.required).toEqual(['delegation', 'web_browsing']);
    expect(contracts.map(each => each.contractRef)).toEqual(['wr.contracts.capability_observation']);
  });

  it('cannot be disabled too', () => {
    const parallel = { id: 'p', type: 'parallel', title: 'P', parallelDelegations: [{ workflowId: 'wr.routine-a' }] };
    expect(
      problemsOf(
        workflowOf([parallel], needs({ required: ['web_browsing'], disabled: ['web_browsing', 'delegation'] })),
      ),
    ).toEqual([
      ['capability_conflict', '/features/0'],
      ['capability_conflict', '/steps/0'],
    ]);
  });
});
