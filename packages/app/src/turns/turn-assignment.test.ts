import { deriveId, type Json, type RunId, type Timestamp } from '@signalbox/model';
import { type NodeKey, type RunRecord, type Task, taskIdOf } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { lastBeginning, turnAssignment } from './turn-assignment.ts';

const run = deriveId<RunId>('test', 'run');
const node = 'write' as NodeKey;
const at = '2026-01-01T00:00:00.000Z' as Timestamp;
const task = {
  ...{ id: taskIdOf(run, node, 0, 's'), node, iteration: 0, signature: 's', status: 'done', effects: 'undoable' },
  ...{ retryCount: 1, maxRetries: 3, backoffMs: 0, handledFrame: 4, createdAt: at, startedAt: at, endedAt: at },
} as Task;
const record = { id: run, workingDirectory: '/project', source: { entry: '/plans/a.tsx' } } as unknown as RunRecord;
const data = {
  prompt: 'Write.',
  system: 'Be assignment.',
  permissions: 'gated',
  maxTurns: 3,
  resume: 'continue',
  cwd: 'docs',
};

/** The node in a frame. */
const frame = (rows: Readonly<Record<string, Json>>) => ({
  valueAt: async (_: RunId, space: string, key: string, index: number) =>
    key === node && index === 4 ? rows[space] : undefined,
});

describe('what an agent was asked', () => {
  it('[A143] is what the frame has in which its task ended', async () => {
    const reader = frame({ node: { kind: 'claude', data }, status: { status: 'running', signature: 's' } });
    expect(await turnAssignment(reader, record, task)).toMatchObject({
      ...{ run, node, attempt: 2, vendor: 'claude', prompt: 'Write.', system: 'Be assignment.' },
      ...{ directory: '/project/docs', planDirectory: '/plans' },
    });
  });

  it.each([
    ['the frame was collected', {}],
    ['the node was given something else since', { node: { kind: 'agent', data }, status: { signature: 'other' } }],
    ['the node is no agent', { node: { kind: 'task', data: {} }, status: { signature: 's' } }],
  ])('[A145] is not known where %s', async (_, rows) => {
    expect(await turnAssignment(frame(rows as Record<string, Json>), record, task)).toBeUndefined();
  });

  it('[A143] is what it was told when its last conversation began', async () => {
    const begun = (note: string) => ({ v: 1, kind: 'begun', note });
    const said = [begun('first'), { kind: 'assistant' }, ...Array(600).fill('x'), begun('second'), null];
    const chunks = said.map((payload, index) => ({ task: task.id, index, kind: 'message' as const, payload, at }));
    const reader = {
      stream: async (_: RunId, __: string, from: number, limit: number) => chunks.slice(from, from + limit),
    };
    expect(await lastBeginning(reader, run, task.id)).toEqual(begun('second'));
    expect(await lastBeginning({ stream: async () => [] }, run, task.id)).toBeUndefined();
  });
});
