import { describe, expect, it } from 'vitest';
import { idStatusOf, suggestedIdOf } from '../../src/index.ts';
import { compile, problemsOf, snapshotOf, stepOf, workflowOf } from './sources.ts';

describe('[W24] a workflow id', () => {
  it.each([
    ['project.bug_hunt', 'namespaced'],
    ['a-b.c-d', 'namespaced'],
    ['bug-hunt', 'legacy'],
    ['a.b.c', undefined],
    ['Project.x', undefined],
    ['.x', undefined],
    ['x.', undefined],
    ['1a.b', undefined],
    ['', undefined],
    ['x'.repeat(300), undefined],
  ] as const)('%s is %s', (id, status) => {
    expect(idStatusOf(id)).toBe(status);
  });

  it('without a namespace runs with a warning, and is an error in strict mode', () => {
    const source = workflowOf([stepOf('a')], { id: 'bug-hunt' });
    const compiled = compile(source);
    expect(compiled.ok && compiled.value.warnings.map(each => [each.code, each.suggestion])).toEqual([
      ['legacy_id', 'Give it an id such as "project.bug_hunt".'],
    ]);
    expect(compile(source, { mode: 'strict' }).ok).toBe(false);
  });

  it('of the program is refused anywhere else', () => {
    const source = workflowOf([stepOf('a')], { id: 'wr.code-review' });
    for (const sourceKind of ['user', 'project', 'remote', 'plugin'] as const) {
      expect(problemsOf(source, { sourceKind })).toEqual([['reserved_namespace', '/id']]);
    }
    expect(problemsOf(source, { sourceKind: 'bundled' })).toEqual([]);
  });

  it('is in the snapshot: the same steps under another id are another workflow', () => {
    expect(snapshotOf(workflowOf([stepOf('a')], { id: 'team.x' })).workflowId).toBe('team.x');
  });
});

it('[W25] the id that a legacy one should get is told by its source, with a suffix of its own where it is taken', () => {
  const hash = 'abcdef0123456789';
  const none = () => false;
  expect(
    (['user', 'project', 'remote', 'plugin'] as const).map(kind => suggestedIdOf('Bug-Hunt v2', kind, none, hash)),
  ).toEqual(['user.bug_hunt_v2', 'project.bug_hunt_v2', 'repo.bug_hunt_v2', 'repo.bug_hunt_v2']);
  expect(suggestedIdOf('2fa', 'user', none, hash)).toBe('user.w_2fa');
  const taken = new Set(['user.a', 'user.a_abcd']);
  expect(suggestedIdOf('a', 'user', id => taken.has(id), hash)).toBe('user.a_abcdef01');
});

it('[W26] step ids are made delimiter-safe in one place; two that become one are a problem', () => {
  const routine = workflowOf([stepOf('one')], { id: 'wr.routine-r' });
  const call = { id: 'go', title: 'Go', templateCall: { templateId: 'wr.templates.routine.r' } };
  const source = workflowOf([call, stepOf('go_one'), stepOf('x', { audit: {} }), stepOf('x__audit')]);
  expect(problemsOf(source, { routines: [routine] })).toEqual([
    ['duplicate_id', '/steps/1/id'],
    ['duplicate_id', '/steps/3/id'],
  ]);
});
