import type { Json, Timestamp } from '@signalbox/model';
import type { StreamChunk } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { createStreamBuffer, WAITING_CHUNKS } from './stream-buffer.ts';

const at = '2026-01-01T00:00:00.000Z' as Timestamp;
const chunk = (index: number, payload: Json, kind: StreamChunk['kind'] = 'token', task = 'a'): StreamChunk => ({
  task: task as StreamChunk['task'],
  index,
  kind,
  payload,
  at,
});

describe('a stream buffer', () => {
  it('[V29] joins consecutive texts of one kind and one task', () => {
    const buffer = createStreamBuffer();
    buffer.add(
      [chunk(0, 'I '), chunk(1, { text: 'look' }), chunk(2, 'hm', 'thinking'), chunk(0, 'other', 'token', 'b')],
      7,
    );
    buffer.add([chunk(3, { name: 'bash' }, 'tool_start'), chunk(4, ' at'), chunk(5, ' it')], 7);
    expect(buffer.takeBefore(8)).toEqual([
      {
        task: 'a',
        next: 6,
        dropped: 0,
        chunks: [
          { index: 0, kind: 'token', payload: 'I look', at, after: 7 },
          { index: 2, kind: 'thinking', payload: 'hm', at, after: 7 },
          { index: 3, kind: 'tool_start', payload: { name: 'bash' }, at, after: 7 },
          { index: 4, kind: 'token', payload: ' at it', at, after: 7 },
        ],
      },
      { task: 'b', next: 1, dropped: 0, chunks: [{ index: 0, kind: 'token', payload: 'other', at, after: 7 }] },
    ]);
    expect([buffer.hasBefore(99), buffer.takeBefore(99)]).toEqual([false, []]);
  });

  it('[V29] leaves out the transcript, and earlier output', () => {
    const buffer = createStreamBuffer();
    buffer.add([chunk(0, { role: 'user' }, 'message')], 1);
    expect(buffer.hasBefore(99)).toBe(false);
    buffer.add([chunk(1, 'a'), chunk(1, 'a'), chunk(0, 'b')], 1);
    expect(buffer.takeBefore(2)).toMatchObject([{ next: 2, chunks: [{ payload: 'a' }] }]);
  });

  it('[A584] returns the output before an event, and does not join across events', () => {
    const buffer = createStreamBuffer();
    buffer.add([chunk(0, 'a'), chunk(1, 'b')], 4);
    buffer.add([chunk(2, 'c'), chunk(0, 'other', 'token', 'b')], 6);
    buffer.add([chunk(3, 'd')], 6);
    expect([4, 5].map(seq => buffer.hasBefore(seq))).toEqual([false, true]);
    expect(buffer.takeBefore(4)).toEqual([]);
    expect(buffer.takeBefore(6)).toMatchObject([
      { task: 'a', next: 2, chunks: [{ index: 0, payload: 'ab', after: 4 }] },
    ]);
    expect(buffer.hasBefore(6)).toBe(false);
    expect(buffer.takeBefore(7)).toMatchObject([
      { task: 'a', next: 4, chunks: [{ index: 2, payload: 'cd', after: 6 }] },
      { task: 'b', next: 1, chunks: [{ payload: 'other', after: 6 }] },
    ]);
  });

  it('[A583] knows the message of a part, and does not join across messages', () => {
    const buffer = createStreamBuffer({ onlyDeltas: true });
    buffer.add([chunk(0, 'a'), chunk(1, {}, 'message'), chunk(2, 'b'), chunk(3, {}, 'tool_start')], 4);
    buffer.add([chunk(4, 'c')], 4);
    const [parts] = buffer.takeBefore(5);
    expect(parts?.chunks.map(({ index, payload, messageBefore }) => [index, payload, messageBefore])).toEqual([
      [0, 'a', undefined],
      [2, 'bc', 1],
    ]);
  });

  it('[V33] drops the oldest output beyond the limit, and counts it', () => {
    const buffer = createStreamBuffer();
    buffer.add(
      Array.from({ length: WAITING_CHUNKS + 5 }, (_, index) => chunk(index, { index }, 'tool_end')),
      1,
    );
    const [parts] = buffer.takeBefore(2);
    expect([parts?.dropped, parts?.chunks.length, parts?.chunks[0]?.index]).toEqual([5, WAITING_CHUNKS, 5]);
  });
});
