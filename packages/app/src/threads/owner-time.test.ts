import type { Digest, RunId, Timestamp } from '@signalbox/model';
import { type EventDraft, type Frame, recordEvents, type Task, type WriteSet } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { withOwnerTime } from './owner-time.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');
const at = (ms: number) => new Date(now + ms).toISOString() as Timestamp;
const EPOCH = new Date(0).toISOString() as Timestamp;

/** A message of a thread, with another time everywhere. */
const said = (time: Timestamp) =>
  ({
    at: time,
    frame: { index: 0, at: time, mounted: [], unmounted: [] } as unknown as Frame,
    transitions: [{ frame: 0, index: 0, key: 'a', change: { kind: 'gone' }, at: time }],
    tasks: [{ id: 't', createdAt: time, startedAt: time, endedAt: time } as unknown as Task],
    artifacts: [{ id: 'x', createdAt: time }],
    events: [
      ['frame.committed'],
      { type: 'signal.received', ts: time },
      { type: 'artifact.created', ts: time, artifact: { id: 'x', createdAt: time } },
    ] as unknown as EventDraft[],
  }) as unknown as WriteSet;

/** The message as the owner commits it: events without a time get that of the commit. */
const stamped = (time: Timestamp) =>
  ({
    ...said(time),
    events: [
      ['frame.committed'],
      { type: 'signal.received' },
      { type: 'artifact.created', artifact: { id: 'x', createdAt: time } },
    ],
  }) as unknown as WriteSet;

/** The times of the events that are told of a commit. */
function toldTimes({ at, events = [], frame }: WriteSet): readonly Timestamp[] {
  const header = { log: 'run' as RunId, n: 0, seq: 0, at, events: events.length };
  const told = recordEvents(header, { frame, events }, `sha256:${'0'.repeat(64)}` as Digest);
  if (!told.ok) throw new Error(told.error);
  return told.value.map(({ event }) => event.ts);
}

describe('what a thread commits', () => {
  it('[A278] has the time of the owner, whatever the thread says', () => {
    expect(withOwnerTime(said(at(1000)), now)).toEqual(stamped(at(0)));
    expect(withOwnerTime(said('garbage' as Timestamp), now)).toEqual(stamped(at(0)));
    const past = withOwnerTime(said(EPOCH), now);
    // A task may date from an earlier life of its run.
    expect(past).toEqual({ ...stamped(at(0)), tasks: said(EPOCH).tasks });
  });

  it('[A278] is told with the time of the owner', () => {
    expect(toldTimes(said(EPOCH))).toEqual([EPOCH, EPOCH, EPOCH]);
    expect(toldTimes(withOwnerTime(said(EPOCH), now))).toEqual([at(0), at(0), at(0)]);
  });

  it('[A278] keeps the time that a render saw just now', () => {
    expect(withOwnerTime(said(at(-50)), now).frame?.at).toBe(at(-50));
  });

  it('[A278] is otherwise as it was', () => {
    const bare = { at: at(0) } as WriteSet;
    expect(withOwnerTime({ at: EPOCH } as WriteSet, now)).toEqual(bare);
  });
});
