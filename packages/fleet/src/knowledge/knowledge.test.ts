import { utf8Length } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import {
  agentNamed,
  artifact,
  artifactNamed,
  only,
  optionDecision,
  type Scene,
  scene,
  starts,
  timeAt,
} from '../../test/scene.ts';
import { knowledgeSnapshot } from './snapshot.ts';

const maya = agentNamed('maya');
const known = (current: Scene, name: string) => current.state.knowledge.artifacts[artifactNamed(name)];

it('[F150] stores artifacts with versions, in the agent’s workstream only', () => {
  const current = scene(['maya', 'david/frontend']);
  current.emits('maya', artifact('api'));
  current.emits('maya', artifact('api', { status: 'in_review' }));
  expect(known(current, 'api')).toMatchObject({
    version: 2,
    status: 'in_review',
    agentId: maya,
    workstream: 'backend',
  });
  const outside = current.emits('david', artifact('api', { workstream: 'frontend' }, 'david'));
  expect(only(outside, 'audit')).toMatchObject([{ entry: { action: 'write_refused' } }]);
  current.emits('david', artifact('new', { workstream: 'backend' }, 'david'));
  expect([known(current, 'api')?.version, known(current, 'new')]).toEqual([2, undefined]);
});

it('[F151] refuses a write with an old version', () => {
  const current = scene();
  current.emits('maya', artifact('api'));
  current.emits('maya', artifact('api'));
  const write = (expectedVersion: number) =>
    current.happens('artifact_changed', {
      artifactId: artifactNamed('api'),
      expectedVersion,
      changes: { name: 'API' },
      by: 'ada',
    });
  expect(write(1)).toEqual([
    { kind: 'write_conflict', artifactId: artifactNamed('api'), expectedVersion: 1, version: 2 },
  ]);
  write(2);
  expect(known(current, 'api')).toMatchObject({ name: 'API', version: 3 });
});

it('[F152] a review changes trust, a report of the agent does not', () => {
  const current = scene();
  current.emits('maya', artifact('api', { status: 'approved' }));
  expect(current.state.trust[maya]?.score).toBe(50);
  const review = (status: 'approved' | 'rejected') =>
    current.happens('artifact_reviewed', { artifactId: artifactNamed('api'), status, by: 'ada' });
  review('rejected');
  review('rejected');
  expect([known(current, 'api')?.status, current.state.trust[maya]?.score]).toEqual(['rejected', 48]);
  review('approved');
  expect(current.state.trust[maya]?.score).toBe(49);
});

describe('a snapshot', () => {
  const reader = { workstream: 'backend', readable: ['frontend'] };

  it('[F153] holds what its reader may read', () => {
    const current = scene(['maya', 'david/frontend', 'eve/secret']);
    current.emits('maya', artifact('api'));
    current.emits('eve', artifact('plan', { workstream: 'secret' }, 'eve'));
    current.emits('david', optionDecision('one'));
    const snapshot = knowledgeSnapshot(current.state, reader, timeAt(9), 4_000);
    expect(
      snapshot.workstreams.map(({ id, artifactCount, pendingDecisionCount }) => [
        id,
        artifactCount,
        pendingDecisionCount,
      ]),
    ).toEqual([
      ['backend', 1, 0],
      ['frontend', 0, 1],
    ]);
    expect(snapshot.artifactIndex.map(({ name }) => name)).toEqual(['api']);
    expect(snapshot.activeAgents.map(({ status }) => status)).toEqual(['running', 'waiting_on_human']);
    expect(JSON.stringify(snapshot)).not.toMatch(/trust/i);
    expect(snapshot.version).toBe(current.state.knowledge.version);
  });

  it('[F153] fits its budget, and drops the least important first', () => {
    const current = scene(['maya', 'david/frontend']);
    for (let n = 0; n < 30; n++) {
      current.emits('maya', artifact(`own-${n}`));
      current.emits('david', artifact(`other-${n}`, { workstream: 'frontend' }, 'david'));
      current.emits('david', optionDecision(`d${n}`));
    }
    const whole = knowledgeSnapshot(current.state, reader, timeAt(0), 100_000);
    const own = knowledgeSnapshot(current.state, reader, timeAt(0), whole.estimatedTokens - 1);
    expect([own.artifactIndex.length, own.pendingDecisions.length, own.activeAgents[0]?.pluginName]).toEqual([
      30,
      30,
      'mock',
    ]);
    for (const budget of [3_000, 1_000, 300]) {
      const small = knowledgeSnapshot(current.state, reader, timeAt(0), budget);
      expect(small.estimatedTokens).toBeLessThanOrEqual(budget);
      expect(Math.abs(small.estimatedTokens - utf8Length(JSON.stringify(small)) / 4)).toBeLessThan(2);
    }
    starts(current, 'new', { readableWorkstreams: ['frontend'] });
    const brief = only(current.effects, 'spawn_agent').at(-1)?.brief;
    expect(brief?.knowledgeSnapshot.estimatedTokens).toBeLessThanOrEqual(4_000);
  });
});
