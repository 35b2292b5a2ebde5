import { type JsonObject, TRUNCATION_MARKER, utf8Length } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type {
  CompiledFunction,
  CompiledStep,
  CompiledWorkflowSnapshotV1,
} from '../../src/compile/compiled-workflow.ts';
import type { ValidationExpression } from '../../src/compile/validation.ts';
import { interpret } from '../../src/interpret/interpreter.ts';
import { fillTemplate } from '../../src/prompts/context-template.ts';
import { functionDefinitions } from '../../src/prompts/function-definitions.ts';
import { renderPrompt, type ShownStep } from '../../src/prompts/prompt.ts';
import { promptBudgets } from '../../src/prompts/prompt-budgets.ts';
import { type Recovery, recoveryText } from '../../src/prompts/recovery.ts';
import { LOOP_CONTROL, loop, plainStep, situation, step, truthy, workflow } from '../interpret/workflow-builder.ts';

function shown(compiled: CompiledWorkflowSnapshotV1, context: JsonObject = {}, recovery?: Recovery): ShownStep {
  const started = interpret(compiled, { kind: 'init' }, { kind: 'started' }, situation({ context }));
  if (!started.ok || started.value.kind !== 'advanced' || started.value.state.kind !== 'running')
    throw new Error('no step');
  const rendered = renderPrompt(compiled, started.value.state, context, recovery);
  if (!rendered.ok) throw new Error(rendered.error.reason);
  return rendered.value;
}

const ofStep = (more: Partial<CompiledStep>, all: Partial<CompiledWorkflowSnapshotV1> = {}) =>
  workflow([step('a', more)], all);
const conditions = [
  { conditionId: 'big', kind: 'expression', expression: truthy('big') },
  { conditionId: 'odd', kind: 'expression', expression: { kind: 'compare', key: 'n', operator: 'gt', value: 1 } },
] as const;

describe('a prompt', () => {
  it('[W160] has what the author says, in one order', () => {
    const compiled = ofStep(
      {
        prompt: 'Look at {{repo}}.',
        agentRole: 'A careful reader',
        guidance: ['Read {{repo}} twice'],
        askForFiles: true,
        notesRequired: true,
        functionCalls: [{ name: 'note', args: { b: 2, a: 'x' } }],
      },
      { metaGuidance: ['Be brief'] },
    );
    expect(shown(compiled, { repo: 'core' })).toEqual({
      key: 'a',
      stepId: 'a',
      title: 'Step a',
      prompt: expect.stringMatching(
        /^Role: A careful reader\n\nLook at core\.\n\nAsk the person .*\n\nGuidance:\n- Read core twice\n\nThroughout this workflow:\n- Be brief\n\nUse these functions:\n- note\(a="x", b=2\)\n\nNOTES: send output\.notesMarkdown for this step alone/,
      ),
    });
  });

  it('[W161] takes values of the context by path, once, and says what is unset', () => {
    const context = { a: { b: 'x', list: ['p', { q: true }] }, n: 3, again: '{{n}}', none: null, 'dotted.key': 'd' };
    const fill = (text: string) => fillTemplate(text, [context]);
    expect(fill('{{a.b}} {{ n }} {{a.list.1.q}} {{a.list.0}}')).toBe('x 3 true p');
    expect(fill('{{a}}')).toBe('{"b":"x","list":["p",{"q":true}]}');
    expect(fill('{{again}} {{dotted.key}}')).toBe('{{n}} d');
    expect(fill('{{none}} {{a.c}} {{missing.x}} {{a.b.length}}')).toBe(
      '[unset: none] [unset: a.c] [unset: missing.x] [unset: a.b.length]',
    );
    expect(fill('{{constructor}} {{__proto__.x}} {{a.toString}}')).toBe(
      '[unset: constructor] [unset: __proto__.x] [unset: a.toString]',
    );
    expect(fill('{{ 1 + 2 }} {{#each}} {x} {{}}')).toBe('{{ 1 + 2 }} {{#each}} {x} {{}}');
    expect(fillTemplate('{{big}}', [{ big: 'é'.repeat(5000) }])).toBe(
      `${'é'.repeat((4096 - 13 - 1) / 2)}${TRUNCATION_MARKER}`,
    );
  });

  it('[W161] sees the turn of the loop it is in', () => {
    const compiled = workflow([
      loop('files', 'forEach', 5, { by: 'items_key', key: 'items' }, [
        step('b', { prompt: 'Read {{currentItem.name}} ({{currentIndex}}, {{currentIteration}}).' }),
      ]),
    ]);
    expect(shown(compiled, { items: [{ name: 'a.ts' }] }).prompt).toBe(
      'In files (loop "files"), turn 1 of at most 5.\n\nRead a.ts (0, 1).',
    );
  });

  it('[W162] has the fragments whose condition holds; one that cannot be told is shown and says so', () => {
    const fragments = [
      { fragmentId: 'always', text: 'Always {{n}}.' },
      { fragmentId: 'big', conditionId: 'big', text: 'If big.' },
      { fragmentId: 'odd', conditionId: 'odd', text: 'If odd.' },
    ];
    const compiled = ofStep({ fragments }, { conditions });
    expect(shown(compiled, { big: true, n: 0 }).prompt).toBe('Do a.\n\nAlways 0.\n\nIf big.');
    expect(shown(compiled, { n: 'x' }).prompt).toBe(
      'Do a.\n\nAlways x.\n\n[Whether this applies cannot be told: gt wants a number, and n is "x"]\nIf odd.',
    );
  });
});

describe('output requirements', () => {
  const rules = (...of: readonly object[]): ValidationExpression => ({
    kind: 'all',
    of: of.map(rule => ({ kind: 'rule', message: '', ...rule }) as ValidationExpression),
  });

  it('[W163] tell the rules for notes, those aside that do not apply', () => {
    const validation = rules(
      { test: 'contains', value: 'severity:' },
      { test: 'regex', pattern: '^[a-z]+$', flags: '' },
      { test: 'length', min: 100, max: 500 },
      { test: 'contains', value: 'size', conditionId: 'big' },
    );
    expect(shown(ofStep({ validation }, { conditions })).prompt).toBe(
      "Do a.\n\n---\nOUTPUT REQUIREMENTS:\n- Must contain 'severity:'\n- Must match pattern: ^[a-z]+$\n- Length: ≥100 chars, ≤500 chars",
    );
  });

  it('[W163] tell the contract instead of the rules where there is one', () => {
    const deciding = {
      output: { contractRef: LOOP_CONTROL, required: true },
      validation: rules({ test: 'contains', value: 'x' }),
    };
    const compiled = workflow([loop('review', 'while', 3, { by: 'agent' }, [step('b', deciding)])]);
    expect(shown(compiled).prompt).toMatch(
      /---\n\*\*OUTPUT REQUIREMENTS \(System\):\*\*\n- Artifact contract: wr\.contracts\.loop_control, in loop "review"\n- decision: "continue" or "stop"$/,
    );
  });

  it('[W163] are at most five lines, and say how many more there are', () => {
    const validation = rules(...Array.from({ length: 8 }, (_, at) => ({ test: 'contains', value: `x${at}` })));
    const assessments = [
      {
        assessmentId: 'risk',
        purpose: '',
        dimensions: [{ dimensionId: 'scope', purpose: '', levels: ['Small', 'Large'], required: false }],
      },
    ];
    const many = shown(ofStep({ validation, assessmentRefs: ['risk'] }, { assessments })).prompt;
    expect(many.match(/^- /gm)).toHaveLength(5);
    expect(many).toMatch(/\(4 more are checked\)$/);
    expect(shown(ofStep({ assessmentRefs: ['risk'] }, { assessments })).prompt).toContain(
      '- Assessment "risk" as an artifact of wr.contracts.assessment: scope (optional): Small | Large',
    );
  });
});

describe('function definitions', () => {
  const define = (
    scope: CompiledFunction['scope'],
    name: string,
    definition = `What ${name} does.`,
  ): CompiledFunction => ({
    scope,
    ...(scope === 'workflow' ? {} : { owner: 'a' }),
    name,
    definition,
    parameters: [],
  });
  const keyOf = ({ scope, owner, name }: CompiledFunction) => ({ scope, ...(owner !== undefined && { owner }), name });
  const names = (text: string | undefined) => [...(text ?? '').matchAll(/^### (\w+)\(/gm)].map(match => match[1]);

  it('[W164] are those of the step by scope and name, then those that downstream and branches speak of', () => {
    const own = [define('workflow', 'alpha'), define('step', 'zeta'), define('loop', 'mid'), define('step', 'beta')];
    const other = [define('workflow', 'later'), define('workflow', 'aside'), define('workflow', 'unused')];
    const compiled = ofStep({ functions: own.map(keyOf) }, { functions: [...own, ...other] });
    const given = compiled.steps[0] ?? plainStep('a');
    expect(names(functionDefinitions(compiled, given))).toEqual(['beta', 'zeta', 'mid', 'alpha']);
    expect(names(functionDefinitions(compiled, given, ['ran later() and alpha(1)'], ['see aside(x)']))).toEqual([
      'beta',
      'zeta',
      'mid',
      'alpha',
      'later',
      'aside',
    ]);
    const recovery = { earlier: [], downstream: [{ key: 'b', title: 'B', notes: 'ran later()' }] };
    expect(names(shown(compiled, {}, recovery).prompt)).toEqual(['beta', 'zeta', 'mid', 'alpha', 'later']);
  });

  it('[W164] show their parameters', () => {
    const made = {
      ...define('workflow', 'note'),
      parameters: [
        { name: 'text', type: 'string', required: true, description: 'what to keep' },
        { name: 'tag', required: false },
      ],
    };
    const compiled = ofStep({ functions: [keyOf(made)] }, { functions: [made] });
    expect(shown(compiled).prompt).toBe(
      'Do a.\n\nFUNCTION DEFINITIONS:\n\n### note(text: string, tag?)\n- text: what to keep\nWhat note does.',
    );
  });

  it('[W164] over the budget are cut, and those left out are counted', () => {
    const own = Array.from({ length: 9 }, (_, at) => define('workflow', `f${at}`, '€'.repeat(600)));
    const text =
      functionDefinitions(ofStep({}, { functions: own }), { ...plainStep('a'), functions: own.map(keyOf) }) ?? '';
    expect(utf8Length(text)).toBeLessThanOrEqual(promptBudgets.functionDefinitions);
    expect(names(text)).toEqual(['f0', 'f1', 'f2', 'f3', 'f4']);
    expect(text).toMatch(/\[TRUNCATED\]\n\n\[Omitted 4 function definitions\.\]$/);
  });

  it('[W164] of any sizes keep the budget, and end in the marker where something is cut or left out', () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(sizes, lengths => {
        const own = lengths.map((length, at) => define('workflow', `f${at}`, 'é'.repeat(length)));
        const step = { ...plainStep('a'), functions: own.map(keyOf) };
        const text = functionDefinitions(ofStep({}, { functions: own }), step) ?? '';
        const whole = own.reduce((sum, { definition }) => sum + utf8Length(definition), 0);
        expect(utf8Length(text)).toBeLessThanOrEqual(promptBudgets.functionDefinitions);
        if (whole > promptBudgets.functionDefinitions) expect(text).toContain('[TRUNCATED]');
        else if (!text.includes('[TRUNCATED]')) expect(names(text).length).toBe(own.length);
        if (text.includes('[Omitted'))
          expect(text).toMatch(/\n\n\[TRUNCATED\]\n\n\[Omitted \d+ function definitions?\.\]$/);
      }),
    );
  });
});

describe('a recovery', () => {
  it('[W165] tells earlier notes, what came after on the preferred branch, and other branches', () => {
    const recovery = {
      earlier: [
        { key: 'a', title: 'First', notes: 'Did a.' },
        { key: 'l@0::b', title: 'Second', notes: 'Did b.' },
      ],
      downstream: [{ key: 'd', title: 'Fourth', notes: 'Did d.' }],
      branches: [{ label: 'tip 2', notes: 'Tried x.' }],
    };
    expect(shown(ofStep({}), {}, recovery).prompt).toBe(
      [
        'Do a.',
        'RECAP OF EARLIER STEPS:',
        '### First (a)\nDid a.',
        '### Second (l@0::b)\nDid b.',
        'AFTER THIS PLACE, ON THE PREFERRED BRANCH:',
        '### Fourth (d)\nDid d.',
        'OTHER BRANCHES FROM HERE:',
        '### Branch tip 2\nTried x.',
      ].join('\n\n'),
    );
    expect(recoveryText({ earlier: [] })).toBeUndefined();
  });

  it('[W165] keeps the newest notes that fit, in their order, and counts what it leaves out', () => {
    const earlier = Array.from({ length: 40 }, (_, at) => ({ key: `s${at}`, title: `S${at}`, notes: '✓'.repeat(300) }));
    const text = recoveryText({ earlier }) ?? '';
    expect(utf8Length(text)).toBeLessThanOrEqual(promptBudgets.recap);
    const told = [...text.matchAll(/\(s(\d+)\)/g)].map(match => Number(match[1]));
    expect(told.at(-1)).toBe(39);
    expect(told).toEqual(told.toSorted((left, right) => left - right));
    expect(text).toContain(`[${40 - told.length} earlier left out.]`);
  });

  it('[W166] and every prompt are the same for the same arguments, within budgets, with no character split', () => {
    const unit = fc.constantFrom('a', 'é', '€', '😀', '\n', '{{x}}', 'f(');
    const text = fc.tuple(fc.string({ unit, maxLength: 12 }), fc.nat(700)).map(([part, times]) => part.repeat(times));
    const notes = fc.array(fc.record({ key: fc.constant('k'), title: text, notes: text }), { maxLength: 12 });
    const branches = fc.array(fc.record({ label: text, notes: text }), { maxLength: 12 });
    const recoveries = fc.record({ earlier: notes, downstream: notes, branches });
    fc.assert(
      fc.property(text, fc.oneof(text, fc.jsonValue()), recoveries, (prompt, x, recovery) => {
        const compiled = ofStep(
          { prompt, agentRole: 'r' },
          { functions: [{ scope: 'workflow', name: 'f', definition: prompt, parameters: [] }] },
        );
        const context = JSON.parse(JSON.stringify({ x })) as JsonObject;
        const once = shown(compiled, context, recovery);
        expect(shown(structuredClone(compiled), structuredClone(context), structuredClone(recovery))).toEqual(once);
        expect(once.prompt.isWellFormed()).toBe(true);
        const { recap, downstream, branches: others } = promptBudgets;
        expect(utf8Length(recoveryText(recovery) ?? '')).toBeLessThanOrEqual(recap + downstream + others + 4);
        expect(utf8Length(once.prompt)).toBeLessThanOrEqual(promptBudgets.prompt);
      }),
      { numRuns: 150 },
    );
  });

  it('[W166] and a context of 300 kB stays within its budget', () => {
    const compiled = ofStep({ prompt: '{{big}} {{deep}}'.repeat(2000) });
    const context = { big: 'é'.repeat(150_000), deep: { list: Array.from({ length: 20_000 }, (_, at) => at) } };
    const { prompt } = shown(compiled, context);
    expect(utf8Length(prompt)).toBeLessThanOrEqual(promptBudgets.prompt);
    expect(prompt).toMatch(/\[left out: big\] \[left out: deep\]$/);
  });
});
