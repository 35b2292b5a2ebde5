import type { Digest, Timestamp } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import type { NodeKey, TaskId } from '../ids.ts';
import type { Task } from '../tasks/task.ts';
import { fullEvent, keptEvent, keptEvents } from './kept-event.ts';
import type { EventDraft } from './stored-event.ts';

const at = '2026-01-01T00:00:00.000Z' as Timestamp;
const node = 'n1' as NodeKey;
const digest = `sha256:${'0'.repeat(64)}` as Digest;
const trigger = { kind: 'task', detail: 'task_finished' } as const;
const ended: Task = {
  id: '00000000-0000-5000-8000-000000000001' as TaskId,
  node,
  iteration: 2,
  signature: 's',
  status: 'error',
  effects: 'none',
  retryCount: 1,
  maxRetries: 3,
  backoffMs: 1000,
  lastError: { class: 'terminal', code: 'no', message: 'It failed.' },
  createdAt: at,
};
const parts = {
  tasks: [ended],
  transitions: [{ frame: 3, index: 1, key: 'k', change: { kind: 'gone' }, trigger: 't', node, at }],
  intervals: [
    { space: 'state', key: 'n1', fromFrame: 4, change: { kind: 'set', value: { status: 'running' } } },
    { space: 'status', key: 'n1', fromFrame: 4, change: { kind: 'set', value: { status: 'failed', iteration: 2 } } },
    {
      space: 'status',
      key: 'n2',
      fromFrame: 4,
      change: { kind: 'patch', steps: [{ op: 'set', path: ['status'], value: 'running' }] },
    },
  ],
  frame: { index: 4, at, trigger, mounted: [node], unmounted: [], written: [], digest, verifiable: true },
} as const;
const attempt = { task: ended.id, node, iteration: 2, attempt: 2 };

const followed: readonly EventDraft[] = [
  { type: 'task.started', ...attempt },
  { type: 'task.ended', ...attempt, outcome: 'error', stale: true, error: ended.lastError },
  { type: 'state.changed', frame: 3, index: 1, key: 'k', trigger: 't', node },
  { type: 'node.status', node, frame: 4, from: 'running', to: 'failed' },
  { type: 'node.status', node: 'n2' as NodeKey, frame: 4, from: 'idle', to: 'running' },
  { type: 'handler.ran', node, handler: 'onError', frame: 3, task: ended.id },
  { type: 'frame.committed', frame: 4, trigger, mounted: 1, unmounted: 0, digest },
] as readonly EventDraft[];

describe('an event as its record keeps it', () => {
  it('[L91] is short where it follows from another part of the record, and comes out as it went in', () => {
    const kept = keptEvents(parts, followed);
    expect(kept.map(event => Array.isArray(event))).toEqual(followed.map(() => true));
    expect(kept.map(event => keptEvent.parse(event))).toEqual(kept);
    expect(kept.map(event => fullEvent(parts, event))).toEqual(followed);
  });

  it('[L91] is whole where any field is not what that part says', () => {
    const changed = followed.flatMap(event =>
      Object.keys(event)
        .filter(field => field !== 'type')
        .map(field => ({ ...event, [field]: 'other' }) as unknown as EventDraft),
    );
    const more = followed.map(event => ({ ...event, ts: at, more: 1 }) as unknown as EventDraft);
    for (const event of [...changed, ...more]) {
      const [kept] = keptEvents(parts, [event]);
      expect(kept && fullEvent(parts, kept)).toEqual(event);
    }
  });

  it('[L91] follows from nothing where its part is not there', () => {
    for (const kept of keptEvents(parts, followed)) expect(fullEvent({}, kept)).toBeUndefined();
  });
});
