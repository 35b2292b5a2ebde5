import type { Timestamp } from '@signalbox/model';
import type { EventDraft, Frame, Task, WriteSet } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { withOwnerTime } from './owner-time.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');
const at = (ms: number) => new Date(now + ms).toISOString() as Timestamp;
const EPOCH = new Date(0).toISOString() as Timestamp;

/** What a thread says, with another time everywhere. */
const said = (time: Timestamp) =>
  ({
    at: time,
    frame: { index: 0, at: time } as Frame,
    transitions: [{ frame: 0, index: 0, key: 'a', change: { kind: 'gone' }, at: time }],
    tasks: [{ id: 't', createdAt: time, startedAt: time, endedAt: time } as unknown as Task],
    artifacts: [{ id: 'x', createdAt: time }],
    events: [
      { type: 'frame.committed', ts: time },
      { type: 'artifact.created', ts: time, artifact: { id: 'x', createdAt: time } },
    ] as unknown as EventDraft[],
  }) as unknown as WriteSet;

describe('what a thread commits', () => {
  it('[A278] has the time of the owner, whatever the thread says', () => {
    expect(withOwnerTime(said(at(1000)), now)).toEqual(said(at(0)));
    expect(withOwnerTime(said('garbage' as Timestamp), now)).toEqual(said(at(0)));
    const past = withOwnerTime(said(EPOCH), now);
    // What is told of a task may be of an earlier life of its run.
    expect(past).toEqual({ ...said(at(0)), tasks: said(EPOCH).tasks });
  });

  it('[A278] keeps the time that a render saw just now', () => {
    expect(withOwnerTime(said(at(-50)), now).frame?.at).toBe(at(-50));
  });

  it('[A278] is otherwise as it was', () => {
    const bare = { at: at(0) } as WriteSet;
    expect(withOwnerTime({ at: EPOCH } as WriteSet, now)).toEqual(bare);
  });
});
