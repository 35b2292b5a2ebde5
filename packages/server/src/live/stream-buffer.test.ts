import type { StreamChunk } from '@signalbox/app/runs';
import type { Json, Timestamp } from '@signalbox/model';
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

describe('what waits of a stream', () => {
  it('[V29] joins texts that follow each other, of one kind and one task', () => {
    const buffer = createStreamBuffer();
    buffer.add([
      chunk(0, 'I '),
      chunk(1, { text: 'look' }),
      chunk(2, 'hm', 'thinking'),
      chunk(0, 'other', 'token', 'b'),
    ]);
    buffer.add([chunk(3, { name: 'bash' }, 'tool_start'), chunk(4, ' at'), chunk(5, ' it')]);
    expect(buffer.take()).toEqual([
      {
        task: 'a',
        next: 6,
        dropped: 0,
        chunks: [
          { index: 0, kind: 'token', payload: 'I look', at },
          { index: 2, kind: 'thinking', payload: 'hm', at },
          { index: 3, kind: 'tool_start', payload: { name: 'bash' }, at },
          { index: 4, kind: 'token', payload: ' at it', at },
        ],
      },
      { task: 'b', next: 1, dropped: 0, chunks: [{ index: 0, kind: 'token', payload: 'other', at }] },
    ]);
    expect([buffer.isEmpty, buffer.take()]).toEqual([true, []]);
  });

  it('[V29] leaves out the transcript, and what came before', () => {
    const buffer = createStreamBuffer();
    buffer.add([chunk(0, { role: 'user' }, 'message')]);
    expect(buffer.isEmpty).toBe(true);
    buffer.add([chunk(1, 'a'), chunk(1, 'a'), chunk(0, 'b')]);
    expect(buffer.take()).toMatchObject([{ next: 2, chunks: [{ payload: 'a' }] }]);
  });

  it('[V33] drops the oldest of what is too much, and counts it', () => {
    const buffer = createStreamBuffer();
    buffer.add(Array.from({ length: WAITING_CHUNKS + 5 }, (_, index) => chunk(index, { index }, 'tool_end')));
    const [parts] = buffer.take();
    expect([parts?.dropped, parts?.chunks.length, parts?.chunks[0]?.index]).toEqual([5, WAITING_CHUNKS, 5]);
  });
});
