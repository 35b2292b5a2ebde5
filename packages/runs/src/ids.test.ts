import { approvalId, nodeId, type RunId } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { freshId, key } from '../test/builders.ts';
import { contractNodeId, decisionIdOf, nodeKey, taskId, taskIdOf } from './ids.ts';

const [run, other] = [freshId<RunId>(), freshId<RunId>()];

describe('derived ids', () => {
  it('[L28] come out the same for the same parts, and differ with each of them', () => {
    const tasks = [
      taskIdOf(run, key('a'), 0, 'sig'),
      taskIdOf(other, key('a'), 0, 'sig'),
      taskIdOf(run, key('b'), 0, 'sig'),
      taskIdOf(run, key('a'), 1, 'sig'),
      taskIdOf(run, key('a'), 0, 'gis'),
      taskIdOf(run, key('a'), 0, 'sig', 1),
    ];
    const decisions = [
      decisionIdOf(run, key('a'), 0, 'call'),
      decisionIdOf(other, key('a'), 0, 'call'),
      decisionIdOf(run, key('b'), 0, 'call'),
      decisionIdOf(run, key('a'), 1, 'call'),
      decisionIdOf(run, key('a'), 0, 'llac'),
    ];
    const nodes = [contractNodeId(run, key('a')), contractNodeId(other, key('a')), contractNodeId(run, key('b'))];
    expect(new Set<string>([...tasks, ...decisions, ...nodes]).size).toBe(14);
    expect([tasks[0], decisions[0], nodes[0]]).toEqual([
      taskIdOf(run, key('a'), 0, 'sig'),
      decisionIdOf(run, key('a'), 0, 'call'),
      contractNodeId(run, key('a')),
    ]);
  });

  it('[L28] are what their schemas allow', () => {
    expect(taskId.safeParse(taskIdOf(run, key('a'), 0, 'sig')).success).toBe(true);
    expect(approvalId.safeParse(decisionIdOf(run, key('a'), 0, 'call')).success).toBe(true);
    expect(nodeId.safeParse(contractNodeId(run, key('a'))).success).toBe(true);
    expect(['', 'x'.repeat(513), '\ud800'].map(name => nodeKey.safeParse(name).success)).toEqual([false, false, false]);
  });
});
