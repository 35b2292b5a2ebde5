import { artifact, deriveId, type NodeId, type RunId, type Timestamp } from '@signalbox/model';
import { type NodeKey, type Task, taskIdOf } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { contractTurnArtifact, turnArtifacts } from './turn-artifact.ts';

const run = deriveId<RunId>('test', 'run');
const node = 'write' as NodeKey;
const at = (second: number) => `2026-01-01T00:00:0${second}.000Z` as Timestamp;
const done: Task = {
  id: taskIdOf(run, node, 0, 's'),
  node,
  iteration: 0,
  signature: 's',
  status: 'done',
  effects: 'undoable',
  retryCount: 0,
  maxRetries: 3,
  backoffMs: 0,
  createdAt: at(0),
  startedAt: at(1),
  endedAt: at(2),
};

describe('the artifacts of a turn', () => {
  it('[A142] are its prompt, whole and in parts, and its diff, made when it ended', () => {
    expect(
      turnArtifacts(run, done).map(({ name, kind, mimeType, createdAt }) => [name, kind, mimeType, createdAt]),
    ).toEqual([
      ['prompt.full.txt', 'prompt', 'text/plain', at(2)],
      ['prompt.blocks.json', 'prompt', 'application/json', at(2)],
      ['diff.patch', 'diff', 'text/x-diff', at(2)],
    ]);
  });

  it('[A142] have the same ids whenever they are asked for, and others in another turn', () => {
    const ids = (task: Task) => turnArtifacts(run, task).map(({ id }) => id);
    expect(ids({ ...done, retryCount: 2 })).toEqual(ids(done));
    const again = ids({ ...done, id: taskIdOf(run, node, 1, 's') });
    expect(new Set([...ids(done), ...again]).size).toBe(6);
  });

  it.each(['error', 'canceled'] as const)('[A142] are there for a turn that ended with %s', status => {
    expect(turnArtifacts(run, { ...done, status })).toHaveLength(3);
  });

  const { startedAt: _, ...unbegun } = done;
  it.each([
    ['goes on', { ...done, status: 'running' }],
    ['waits', { ...done, status: 'pending' }],
    ['never began', { ...unbegun, status: 'canceled' }],
  ] as const)('[A142] are not there for one that %s', (_name, task) => {
    expect(turnArtifacts(run, task as Task)).toEqual([]);
  });

  it('[A142] are artifacts of the contract, with a reference where there is no file', () => {
    const nodeId = deriveId<NodeId>('test', node);
    for (const one of turnArtifacts(run, done)) {
      const told = contractTurnArtifact(one, nodeId);
      expect(artifact.parse(told)).toEqual(told);
      expect(told.path).toBe(`artifact://${one.id}`);
    }
  });
});
