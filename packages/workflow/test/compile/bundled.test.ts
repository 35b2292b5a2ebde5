import { portableHasher, utf8Length } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { features } from '../../src/compile/builtins/features.ts';
import { refSnippets } from '../../src/compile/builtins/refs.ts';
import { limits } from '../../src/compile/limits.ts';
import { builtinCatalog, contractPacks, openWorkflowLibrary } from '../../src/index.ts';

const library = openWorkflowLibrary({ hasher: portableHasher, places: [], mode: 'strict' });
const discovery = await library.discover();

describe('[W28] the bundled workflows', () => {
  it('are these', () => {
    expect(discovery.problems).toEqual([]);
    expect(discovery.workflows.map(({ workflowId, isRoutine }) => [workflowId, isRoutine])).toEqual([
      ['wr.bug-investigation', false],
      ['wr.code-review', false],
      ['wr.feature-development', false],
      ['wr.research', false],
      ['wr.routine-design-review', true],
      ['wr.routine-source-research', true],
      ['wr.routine-tension-driven-design', true],
    ]);
  });

  it.each(discovery.workflows.map(each => [each.workflowId, each] as const))(
    '%s compiles without a warning in strict mode',
    (_, { compiled }) => {
      expect(compiled.ok ? compiled.value.warnings : compiled.error.problems).toEqual([]);
    },
  );

  it.each(discovery.workflows.map(each => [each.workflowId, each] as const))(
    '%s asks every step for evidence',
    (_, { compiled }) => {
      const steps = compiled.ok ? compiled.value.snapshot.steps : [];
      const trusting = steps.filter(
        step =>
          step.kind === 'standard' &&
          step.validation === undefined &&
          step.output === undefined &&
          step.assessmentRefs.length === 0 &&
          step.confirmation.kind === 'none',
      );
      expect(trusting.map(step => step.stepId)).toEqual([]);
    },
  );
});

it('[W28] the bundled workflows use, between them, every ref, every feature, routines, and marks of the person’s choices', () => {
  const snapshots = discovery.workflows.flatMap(({ compiled }) => (compiled.ok ? [compiled.value.snapshot] : []));
  const steps = snapshots.flatMap(snapshot => snapshot.steps);
  const injected = new Set(steps.flatMap(step => step.injections.map(({ id }) => id)));
  expect(
    [...refSnippets.map(each => each.refId), ...features.map(each => each.featureId)].filter(id => !injected.has(id)),
  ).toEqual([]);
  const origins = new Set(steps.map(({ provenance }) => provenance.source));
  expect(origins).toEqual(new Set(['authored', 'template_injected']));
  expect(steps.some(step => step.nonAssumableChoices !== undefined)).toBe(true);
});

it('[W11] every snippet that can be referred to keeps its own budget', () => {
  const large = refSnippets.filter(({ text }) => utf8Length(text) > limits.refBytes);
  expect(large.map(({ refId }) => refId)).toEqual([]);
});

it('[W29] the catalog of builtins lists all that the compiler knows, once, in order', () => {
  const catalog = builtinCatalog(discovery.routines);
  const ids = (kind: string) => catalog.filter(each => each.kind === kind).map(each => each.id);
  expect(ids('ref')).toEqual(refSnippets.map(each => each.refId));
  expect(ids('feature')).toEqual(features.map(each => each.featureId));
  expect(ids('contract')).toEqual(contractPacks.map(each => each.contractRef));
  expect(ids('template')).toEqual([
    'wr.templates.routine.design-review',
    'wr.templates.routine.source-research',
    'wr.templates.routine.tension-driven-design',
  ]);
  expect(ids('capability')).toEqual(['delegation', 'web_browsing']);
  expect(ids('loop_type')).toEqual(['for', 'forEach', 'until', 'while']);
  const keys = catalog.map(each => `${each.kind} ${each.id}`);
  expect(keys).toEqual([...new Set(keys)].sort());
});
